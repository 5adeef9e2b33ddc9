//! Inside another site's page nobody can wait: the frame says so, and its link opens the whole window.

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin, Visitor};

#[test]
fn a_frame_leads_out_of_the_frame() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 0);
    let elsewhere = Origin::named("elsewhere");
    let browser = Browser::start();
    // Another host, as browsers see it.
    browser.open(&format!("http://localhost:{}/", elsewhere.address().port()));
    let url = format!("http://{}/drop?size=9", gateway.addr());
    browser.enter_frame(&url);
    browser.reads("There is a line here");
    assert_eq!(browser.position(), None, "no number for a page that nobody may have looked at");
    browser.click("a.button");
    browser.leave_frames();
    assert_eq!(browser.waits(), 1);
    assert_eq!(browser.path(), "/drop?size=9");
    assert_eq!(browser.shown("label").as_deref(), Some("A-000002"));
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn the_waiting_page_itself_can_not_be_framed() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 0);
    let page = Visitor::new(&gateway).open("/");
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}
