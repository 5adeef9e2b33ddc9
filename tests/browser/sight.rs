//! What a person sees of a page, and does with it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::Browser;
use crate::support::{Gateway, PATIENCE, eventually};

/// Between two looks at a page: each costs the browser a moment.
const LOOK: Duration = Duration::from_millis(50);

impl Browser {
    /// The text of the first element of this kind that can be seen.
    pub fn sees(&self, selector: &str) -> Option<String> {
        let script = format!(
            "const seen = [...document.querySelectorAll({})].find(e => e.checkVisibility());
             return seen ? seen.innerText.trim() : null;",
            json!(selector)
        );
        self.try_script(&script).ok()?.as_str().map(str::to_owned)
    }

    /// What an element of the waiting page says: `position`, `label`, `eta`.
    pub fn shown(&self, what: &str) -> Option<String> {
        self.sees(&format!("[data-anteroom={what}]"))
    }

    /// Everything that can be read on the page.
    pub fn text(&self) -> String {
        let text = self.try_script("return document.body.innerText").ok();
        text.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Waits until the page says this somewhere.
    #[track_caller]
    pub fn reads(&self, text: &str) {
        self.until(&format!("the page says {text:?}"), || self.text().contains(text));
    }

    /// The state of the waiting page: the first word of it.
    pub fn state(&self) -> Option<String> {
        let states = self.try_script("return document.body.dataset.anteroomState || null").ok()?;
        states.as_str()?.split(' ').next().map(str::to_owned)
    }

    /// Whether the state has this word.
    pub fn is(&self, word: &str) -> bool {
        let states = self.try_script("return document.body.dataset.anteroomState || ''").ok();
        states
            .is_some_and(|states| states.as_str().unwrap_or_default().split(' ').any(|w| w == word))
    }

    /// The language and the direction that the page says it is in.
    #[track_caller]
    pub fn language(&self) -> String {
        let html =
            self.script("const { lang, dir } = document.documentElement; return `${lang} ${dir}`");
        html.as_str().unwrap_or_default().to_owned()
    }

    /// The title, as the tab has it.
    #[track_caller]
    pub fn title(&self) -> String {
        self.command("GET", "/title", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// The address without the host.
    #[track_caller]
    pub fn path(&self) -> String {
        let url = self.command("GET", "/url", &Value::Null);
        let url = url.as_str().unwrap_or_default();
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.find('/').map_or("/", |slash| &rest[slash..]).to_owned()
    }

    /// Whether the page is the site's.
    pub fn is_inside(&self) -> bool {
        self.sees("#inside").is_some()
    }

    /// Waits until the page is the site's.
    #[track_caller]
    pub fn gets_in(&self) {
        self.until("the visitor gets in", || self.is_inside());
    }

    /// Waits for something; a failure shows the page.
    #[track_caller]
    pub fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            let late = Instant::now() > until;
            assert!(!late, "never: {what}\nthe page is {:?}:\n{}", self.state(), self.text());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for a place in the line, and says which.
    #[track_caller]
    pub fn waits(&self) -> u64 {
        self.until("the visitor waits", || self.state().as_deref() == Some("waiting"));
        self.position().expect("a position")
    }

    /// The position, if the page shows one.
    pub fn position(&self) -> Option<u64> {
        let digits: String = self.shown("position")?.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    }

    /// Clicks where the first element of this kind is that can be seen: a real click, that meets what is on top.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let id = self.element(selector);
        self.command("POST", &format!("/element/{id}/click"), &json!({}));
    }

    /// Types into the first element of this kind that can be seen, in place of what is there.
    #[track_caller]
    pub fn types(&self, selector: &str, text: &str) {
        let id = self.element(selector);
        self.command("POST", &format!("/element/{id}/clear"), &json!({}));
        self.command("POST", &format!("/element/{id}/value"), &json!({ "text": text }));
    }

    /// The driver's name of the first element of this kind that can be seen.
    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let elements = self.command(
            "POST",
            "/elements",
            &json!({ "using": "css selector", "value": selector }),
        );
        let ids = elements.as_array().into_iter().flatten();
        let mut ids = ids.filter_map(|element| element.as_object()?.values().next()?.as_str());
        let displayed = |id: &&str| {
            self.command("GET", &format!("/element/{id}/displayed"), &Value::Null)
                == Value::Bool(true)
        };
        let id = ids.find(displayed).unwrap_or_else(|| panic!("no {selector}:\n{}", self.text()));
        id.to_owned()
    }

    /// What a question of the page's says, such as `confirm`, once it is asked.
    #[track_caller]
    pub fn question(&self) -> String {
        eventually("the page asks", || {
            let text = self.try_command("GET", "/alert/text", &Value::Null).ok()?;
            text.as_str().map(str::to_owned)
        })
    }

    /// Answers it.
    #[track_caller]
    pub fn answer(&self, yes: bool) {
        self.command("POST", if yes { "/alert/accept" } else { "/alert/dismiss" }, &json!({}));
    }

    /// Sends a form from the page one is on.
    #[track_caller]
    pub fn submit(&self, gateway: &Gateway, path: &str) {
        let to = format!("http://{}{path}", gateway.addr());
        self.script(&format!(
            "const form = document.createElement('form');
             form.method = 'post'; form.action = {}; form.innerHTML = '<input name=size value=9>';
             document.body.append(form); form.submit();",
            json!(to)
        ));
    }
}
