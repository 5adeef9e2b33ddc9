//! A tab that was asleep asks at once when somebody looks at it again.

use super::come;
use super::driver::Browser;
use crate::support::{Gateway, Origin};

#[test]
fn a_tab_that_comes_back_asks_at_once() {
    let origin = Origin::start();
    // Far from the front: by itself it would ask again after most of half a minute.
    let gateway = Gateway::before(&origin)
        .room("sale", "rate = \"1/m\"\nburst = 1\npoll_max = \"30s\"")
        .start();
    come(&gateway, 40);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    let waiting = browser.tab();
    let poll = browser.script("return Number(document.body.dataset.anteroomPoll)");
    assert!(poll.as_f64() > Some(20.0), "{poll}");
    let asked = || {
        let urls = browser.asked_for();
        urls.iter().filter(|url| url.contains("/.anteroom/v1/queue/status")).count()
    };
    let since = || browser.script("return performance.now()").as_f64().unwrap_or_default();
    assert_eq!(asked(), 0, "far from the front");
    browser.open_tab();
    // Who has just asked does not ask again, however often somebody looks: later, then.
    browser.until("some seconds in the other tab", || since() > 3_000.0);
    browser.switch_to(&waiting);
    browser.until("the page asks", || asked() > 0);
    assert!(since() < 1_000.0 * poll.as_f64().unwrap_or_default(), "later than by itself");
    let looks =
        "return performance.getEntriesByType('visibility-state').map(e => e.name).join(' ')";
    assert_eq!(browser.script(looks), "visible hidden visible");
    assert_eq!(browser.state().as_deref(), Some("waiting"));
}
