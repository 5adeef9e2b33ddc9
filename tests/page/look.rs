//! The operator's look: colours, logo, and an own document.

use super::*;

const OWN: &str = r#"<!DOCTYPE html>
<html lang="de">
<head><title>Mein Laden</title>
<style>body { color: navy }</style>
<script>console.log("<body>")</script>
</head>
<body class="mine">
<!-- <p data-anteroom="position"></p> -->
<p>Platz <b data-anteroom="position">?</b> von <b data-anteroom='waiting'></b>, <i data-anteroom=eta></i></p>
<p data-anteroom="status"></p><p data-anteroom="label"></p>
<p data-anteroom="message">–</p>
<progress data-anteroom="progress" max="1"></progress>
<section data-anteroom-show="admitted">Los!</section>
<button type="submit" data-anteroom="leave">Gehen</button>
</body>
</html>
"#;

fn own(html: &str) -> Look {
    Look { own: Some(html.into()), message: Some("Zwei & nicht <drei>".into()), ..Look::default() }
}

#[test]
fn an_own_page_is_filled_and_kept_current() {
    let pages = Pages::new("shop/sale", &own(OWN));
    let place = place();
    // It says it is German, so its numbers are, whoever reads it.
    for code in ["en", "ja"] {
        let page = Page::Waiting { place: &place, fresh: true, unsent: false };
        let html = rendered(&pages, &page, language(code));
        for wanted in [
            r#"<b data-anteroom="position">1.523</b> von <b data-anteroom='waiting'>20.417</b>"#,
            "<i data-anteroom=eta>etwa 4–6 Minuten</i>",
            r#"<p data-anteroom="status">Sie stehen in der Warteschlange</p>"#,
            r#"<p data-anteroom="label">A-004711</p>"#,
            r#"<p data-anteroom="message">Zwei &amp; nicht &lt;drei></p>"#,
            r#"<progress max="1000" value="400" data-anteroom="progress" max="1">"#,
            r#"<body data-anteroom-room="shop/sale" data-anteroom-state="waiting fresh" data-anteroom-poll="20" class="mine"><form id="anteroom""#,
            r#"<!-- <p data-anteroom="position"></p> -->"#,
            r#"<button form="anteroom" type="submit" data-anteroom="leave">"#,
            r#"content="20;url=/.anteroom/continue?to=/drop/7%3F"#,
            r#"<script type="application/json" id="anteroom-words">{"#,
        ] {
            assert!(html.contains(wanted), "{wanted}\n{html}");
        }
        assert_eq!(html.matches("/.anteroom/client.js").count(), 1);
        assert_eq!(inflated(&gzipped(&pages, &page, language(code))), html);
    }
    let admitted = Page::Admitted { place: &place, window_seconds: None, unsent: false };
    let html = rendered(&pages, &admitted, language("en"));
    assert!(html.contains("Mein Laden") && html.contains("data-anteroom-state=\"admitted\""));
    let html = rendered(&pages, &CLOSED, language("en"));
    assert!(!html.contains("Mein Laden"), "siblings are ours");
}

#[test]
fn an_own_page_that_loads_the_client_does_not_get_it_twice() {
    let html =
        OWN.replace("</head>", "<script type=module src=\"/.anteroom/client.js\"></script></head>");
    let pages = Pages::new("sale", &own(&html));
    let place = place();
    let page = Page::Waiting { place: &place, fresh: false, unsent: false };
    assert_eq!(rendered(&pages, &page, language("en")).matches("/.anteroom/client.js").count(), 1);
}

#[test]
fn an_own_page_that_is_no_document_is_not_used() {
    for broken in ["", "Hello", "<p data-anteroom=position></p>", "<html><head></head><p></html>"] {
        let look = own(broken);
        assert!(!look.problems().is_empty(), "{broken}");
        let place = place();
        let page = Page::Waiting { place: &place, fresh: false, unsent: false };
        let pages = Pages::new("sale", &look);
        assert!(rendered(&pages, &page, language("en")).contains("You are in line"));
        assert!(pages.policy(&page).contains("style-src 'sha256-"));
    }
}

#[test]
fn what_would_not_work_is_said() {
    assert_eq!(Look::default().problems(), Vec::<String>::new());
    assert_eq!(own(OWN).problems(), Vec::<String>::new());
    let problem = |look: &Look, part: &str| {
        let problems = look.problems();
        assert_eq!(problems.len(), 1, "{part}: {problems:?}");
        assert!(problems[0].contains(part), "{part}: {problems:?}");
    };
    for accent in ["red", "#12", "#12345g"] {
        problem(&Look { accent: Some(accent.into()), ..Look::default() }, accent);
    }
    for logo in [
        "https://cdn.example/l.svg",
        "//cdn.example/l.svg",
        "logo.svg",
        "javascript:x",
        "data:text/html,x",
    ] {
        problem(&Look { logo: Some(logo.into()), ..Look::default() }, "logo");
    }
    for logo in ["/logo.svg", "data:image/png;base64,AAAA"] {
        let look = Look { logo: Some(logo.into()), ..Look::default() };
        assert_eq!(look.problems(), Vec::<String>::new());
    }
    let with = |more: &str| own(&OWN.replace("<p>Platz", &format!("{more}<p>Platz")));
    problem(&own(&OWN.replace("</head>", "")), "</head>");
    problem(&own(&OWN.replace("</body>", "")), "</body>");
    problem(&with("<img src='https://cdn.example/x.png'>"), "https://cdn.example/x.png");
    problem(&with("<script src=//cdn.example/x.js></script>"), "//cdn.example/x.js");
    problem(&with("<p onclick='x()'></p>"), "onclick");
    problem(&with("<p data-anteroom=postion></p>"), "postion");
    problem(&with("<p data-anteroom-show=waitng></p>"), "waitng");
    assert_eq!(with("<a href='https://example.com/'>x</a>").problems(), Vec::<String>::new());
    problem(&with(&"x".repeat(300 * 1024)), "KiB");
}

#[test]
fn policies_let_nothing_in_from_elsewhere() {
    let place = place();
    let waiting = Page::Waiting { place: &place, fresh: false, unsent: false };
    let pages = Pages::new("sale", &Look::default());
    let policy = pages.policy(&waiting);
    for wanted in [
        "default-src 'none'; ",
        "style-src 'sha256-",
        "script-src 'self' 'sha256-",
        "img-src data:;",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(wanted), "{wanted}: {policy}");
    }
    for never in ["unsafe", "http", "*"] {
        assert!(!policy.contains(never), "{never}: {policy}");
    }
    let frame = Page::Frame { to: "/" };
    assert!(pages.policy(&frame).contains("frame-ancestors *"), "it must be seen to be clicked");
    let look = Look { logo: Some("/logo.svg".into()), framed: true, ..own(OWN) };
    let pages = Pages::new("sale", &look);
    assert!(pages.policy(&waiting).contains("frame-ancestors *"));
    assert!(pages.policy(&CLOSED).contains("img-src 'self' data:"));
    // The hash of "body { color: navy }", as a browser computes it.
    let hash = "'sha256-Frzt2WJibuHPUzMGtF0jBWpOmnrzYGEgOkokcjrRXeo='";
    assert!(pages.policy(&waiting).contains(hash), "{}", pages.policy(&waiting));
}
