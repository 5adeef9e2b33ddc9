//! What a browser is told to pretend: a phone, the dark, a tunnel, another language.

use serde_json::json;

use super::driver::Browser;

/// A window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub mobile: bool,
}

/// A phone as most people have it.
pub const PHONE: Screen = Screen { width: 390, height: 844, mobile: true };

/// A window on a desk.
pub const DESK: Screen = Screen { width: 1280, height: 900, mobile: false };

impl Browser {
    /// The size of its window, and how many dots there are to a point.
    #[track_caller]
    pub fn sized(&self, screen: Screen, density: f64) {
        let Screen { width, height, mobile } = screen;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": density, "mobile": mobile });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Dark or light, as its owner likes it.
    #[track_caller]
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Cuts the network, or brings it back.
    #[track_caller]
    pub fn offline(&self, offline: bool) {
        self.cdp("Network.enable", json!({}));
        let conditions = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.cdp("Network.emulateNetworkConditions", conditions);
    }

    /// The language it asks for from now on.
    #[track_caller]
    pub fn speaks(&self, language: &str) {
        self.cdp("Network.enable", json!({}));
        self.cdp(
            "Network.setExtraHTTPHeaders",
            json!({ "headers": { "Accept-Language": language } }),
        );
    }
}
