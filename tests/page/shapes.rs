//! Every page in every language.

use proptest::prelude::*;

use super::*;

/// Elements without an end tag.
const VOID: [&str; 5] = ["meta", "link", "img", "input", "br"];

/// Every start tag has its end tag, in order: enough to notice a template that lost one.
fn balanced(html: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.strip_prefix("<!doctype html>").ok_or("no doctype")?;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, behind) = after.split_once('>').ok_or("a tag does not end")?;
        rest = behind;
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> closes {last:?}")),
            },
            None if VOID.contains(&name) => {}
            None if ["style", "script"].contains(&name) => {
                let end = format!("</{name}>");
                rest = rest.split_once(&end).ok_or("a block does not end")?.1;
            }
            None => open.push(name),
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("open at the end: {open:?}")) }
}

#[test]
fn every_page_is_whole_in_every_language() {
    let look = Look {
        title: Some("Shop & Söhne".into()),
        message: Some("Two tickets <each>".into()),
        logo: Some("/logo.svg".into()),
        accent: Some("#c0f".into()),
        ..Look::default()
    };
    let place = place();
    for look in [Look::default(), look] {
        let pages = Pages::new("sale", &look);
        for (name, page) in every(&place, ADDRESS) {
            for language in Language::all() {
                let html = rendered(&pages, &page, language);
                let at = format!("{name} in {}", language.code());
                balanced(&html).unwrap_or_else(|problem| panic!("{at}: {problem}\n{html}"));
                assert!(!html.chars().any(|c| ('\u{fdd0}'..='\u{fdef}').contains(&c)), "{at}");
                assert!(!html.contains("{{") && !html.contains("{%"), "{at}");
                let words = html.contains("anteroom-words");
                assert_eq!(words, html.contains("client.js?v="), "{at}: words go with the client");
                let dir = if ["ar", "he"].contains(&language.code()) { "rtl" } else { "ltr" };
                let start = format!("<html lang=\"{}\" dir=\"{dir}\">", language.code());
                assert!(html.contains(&start), "{at}");
                assert!(
                    !html.contains("://") || html.matches("://").count() == 1,
                    "{at}: elsewhere"
                );
                for inline in [" style=", " onclick=", " onload=", " onerror=", "javascript:"] {
                    assert!(!html.contains(inline), "{at}: {inline}");
                }
                assert!(html.contains("<h1"), "{at}");
                assert_eq!(inflated(&gzipped(&pages, &page, language)), html, "{at}");
            }
        }
    }
}

#[test]
fn pages_that_can_change_load_again_and_the_others_do_not() {
    let pages = Pages::new("sale", &Look::default());
    let place = place();
    for (name, page) in every(&place, ADDRESS) {
        let html = rendered(&pages, &page, language("en"));
        let refresh = html
            .split_once("<noscript><meta http-equiv=\"refresh\" content=\"")
            .map(|(_, rest)| rest.split_once('"').expect("an end").0);
        let direct = |seconds| Some(format!("{seconds};url=/drop/7?size=9&amp;colour=red"));
        let wanted = match name {
            "waiting" | "unsent" => direct(20),
            "fresh" => {
                Some("20;url=/.anteroom/continue?to=/drop/7%3Fsize%3D9%26colour%3Dred".into())
            }
            "admitted" => direct(1),
            "busy" => direct(12),
            "store-lost" => direct(7),
            "arrived" => direct(4),
            "closed" => direct(60),
            "full" => direct(30),
            "origin-down" | "origin-slow" => direct(15),
            _ => None,
        };
        assert_eq!(refresh, wanted.as_deref(), "{name}");
        assert_eq!(html.contains("<script type=\"module\""), wanted.is_some(), "{name}");
    }
}

#[test]
fn the_waiting_page_says_what_is_known() {
    let pages = Pages::new("sale", &Look { title: Some("Shop".into()), ..Look::default() });
    let waiting = |place: &Place<'_>| {
        let page = Page::Waiting { place, fresh: false, unsent: false };
        rendered(&pages, &page, language("en"))
    };
    let html = waiting(&place());
    for wanted in [
        "<title>#1,523 · Shop</title>",
        "data-anteroom=\"position\">1,523<",
        "data-anteroom=\"waiting\">20,417<",
        "data-anteroom=\"eta\">about 4–6 minutes<",
        "data-anteroom=\"label\">A-004711<",
        "value=\"400\"",
        "data-anteroom-state=\"waiting\" data-anteroom-poll=\"20\"",
        "name=\"event_id\" value=\"sale\"",
        "name=\"to\" value=\"/drop/7?size=9&amp;colour=red\"",
    ] {
        assert!(html.contains(wanted), "{wanted}\n{html}");
    }
    let paused = waiting(&Place { eta: None, paused: true, ..place() });
    assert!(paused.contains("data-anteroom-state=\"waiting paused\""));
    assert!(paused.contains("data-anteroom=\"eta\">paused<"));
    // A schedule that has closed the room says when it opens; before an opening that is no pause.
    for (opens, clock) in [(59, "0:59"), (754, "12:34"), (90_061, "25:01:01")] {
        let opens_seconds = Some(opens);
        let closed = waiting(&Place { eta: None, paused: true, opens_seconds, ..place() });
        let told =
            format!("\"waiting paused\" data-anteroom-poll=\"20\" data-anteroom-opens=\"{opens}\"");
        assert!(closed.contains(&told), "{closed}");
        assert!(closed.contains(&format!("data-anteroom=\"eta\">Opens in {clock}<")), "{closed}");
    }
    // What nobody knows is not made up: when an operator lets in by hand, and who will be where before a draw.
    let by_hand = waiting(&Place { eta: None, ..place() });
    assert!(by_hand.contains("data-anteroom=\"eta\">–<"), "{by_hand}");
    let undrawn = waiting(&Place { draw: true, is_drawn_later: true, ..place() });
    assert!(
        undrawn.contains("<title>#–") && undrawn.contains("data-anteroom=\"position\">–<"),
        "{undrawn}"
    );
    // Who is of a class sees it; whoever is not sees no empty line.
    assert!(html.contains("data-anteroom=\"class\"><") && !html.contains("classed\" data-"));
    let vip = waiting(&Place { class: "vip & friends", ..place() });
    assert!(vip.contains("data-anteroom-state=\"waiting classed\""), "{vip}");
    let row = "data-anteroom-show=\"classed\"><dt>Class</dt><dd dir=\"auto\" data-anteroom=\"class\">vip &amp; friends<";
    assert!(vip.contains(row), "{vip}");
    let last = waiting(&Place { last_known: true, ..place() });
    assert!(last.contains("data-anteroom-state=\"waiting reconnecting\""), "{last}");
    let page = Page::Admitted { place: &place(), window_seconds: Some(105), unsent: true };
    let admitted = rendered(&pages, &page, language("en"));
    let state = "data-anteroom-state=\"admitted unsent\" data-anteroom-poll=\"5\" data-anteroom-window=\"105\"";
    assert!(admitted.contains(state));
    assert!(admitted.contains("<title>It is your turn · Shop</title>"));
    // What nobody knows is not counted down.
    let page = Page::Admitted { place: &place(), window_seconds: None, unsent: false };
    assert!(!rendered(&pages, &page, language("en")).contains("data-anteroom-window"));
}

#[test]
fn all_the_first_view_needs_is_small() {
    let look = Look {
        title: Some("Example Shop".into()),
        message: Some("The sneakers drop at noon. Two pairs a person.".into()),
        ..Look::default()
    };
    let pages = Pages::new("sneakers", &look);
    let place = Place { class: "presale", ..place() };
    let client = anteroom::page::client();
    assert_eq!(inflated(client.gzip).as_bytes(), client.plain);
    let mut largest = (0, 0);
    for (name, page) in every(&place, ADDRESS) {
        for language in Language::all() {
            let (plain, packed) =
                (rendered(&pages, &page, language).len(), gzipped(&pages, &page, language).len());
            largest = largest.max((packed, plain));
            let all = packed + client.gzip.len();
            assert!(all < 14 * 1024, "{name} in {}: {all} bytes", language.code());
            // The first answer fits the first ten packets of a connection with room to spare.
            assert!(all < 10 * 1024 + 512, "{name} in {}: {all} bytes", language.code());
        }
    }
    println!(
        "largest page {largest:?} (gzip, plain), client {} of {}",
        client.gzip.len(),
        client.plain.len()
    );
}

proptest! {
    #[test]
    fn gzip_is_the_same_page_whatever_is_in_it(
        label in ".{0,40}",
        to in "/?.{0,300}",
        numbers in any::<[u64; 7]>(),
        flags in any::<[bool; 5]>(),
        which in 0usize..22,
        header in any::<Vec<u8>>(),
    ) {
        let [position, waiting, seconds, low, high, waited_seconds, next_poll_seconds] = numbers;
        let [has_eta, paused, last_known, fresh, unsent] = flags;
        let place = Place {
            label: &label,
            class: if has_eta { &label } else { "" },
            position,
            waiting,
            eta: has_eta.then_some(Eta { seconds, low, high }),
            paused,
            opens_seconds: last_known.then_some(waited_seconds),
            last_known,
            draw: fresh != unsent,
            is_drawn_later: fresh && unsent,
            waited_seconds,
            next_poll_seconds,
            return_to: &to,
            roster: None,
        };
        let pages = pages();
        let language = Language::of(Some(&header));
        let page = match which {
            0 => Page::Waiting { place: &place, fresh, unsent },
            which => every(&place, &to)[which].1,
        };
        let html = rendered(pages, &page, language);
        prop_assert_eq!(inflated(&gzipped(pages, &page, language)), &*html);
        prop_assert!(balanced(&html).is_ok(), "{}", html);
    }
}

fn pages() -> &'static Pages {
    static PAGES: std::sync::OnceLock<Pages> = std::sync::OnceLock::new();
    PAGES.get_or_init(|| Pages::new("sale", &Look::default()))
}

#[test]
fn nothing_hostile_becomes_markup_or_another_site() {
    let look = Look {
        title: Some("</title><script>alert(1)</script>\u{fdd0}".into()),
        message: Some("<img src=x onerror=alert(1)>".into()),
        ..Look::default()
    };
    let pages = Pages::new("sale", &look);
    for to in [
        "//evil.example/",
        "/\"><script>alert(1)</script>",
        "/\\evil.example",
        "http://evil.example/",
        "/\n//evil.example",
    ] {
        let hostile = "\"><script>alert(1)</script>";
        let place = Place { label: hostile, class: hostile, return_to: to, ..place() };
        for (name, page) in every(&place, to) {
            let html = rendered(&pages, &page, language("en"));
            balanced(&html).unwrap_or_else(|problem| panic!("{name}: {problem}\n{html}"));
            assert!(!html.contains("<script>alert"), "{name}: {html}");
            assert!(!html.contains("<img"), "{name}");
            for leads in ["\"//", "\"/\\", "url=//", "\"http", "\"/\n"] {
                assert!(!html.contains(leads), "{name}: {leads}: {html}");
            }
        }
    }
}

/// For looking at them: `cargo test --test main dump_pages -- --ignored` writes to target/pages.
#[test]
#[ignore = "writes files for people to look at"]
fn dump_pages() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pages");
    std::fs::create_dir_all(&folder).expect("a folder");
    let look = Look {
        title: Some("Northwind Sneakers".into()),
        message: Some("The Aurora drop opened at 10:00. Two pairs a person, all sizes in stock.".into()),
        logo: Some("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><rect width='24' height='24' rx='6' fill='%23e8590c'/><path d='M6 16l4-8 3 6 2-4 3 6' stroke='%23fff' stroke-width='2' fill='none'/></svg>".into()),
        accent: Some("#e8590c".into()),
        ..Look::default()
    };
    let place = place();
    let paused = Place { eta: None, paused: true, ..place };
    let own = Look { own: Some(include_str!("own.html").into()), ..look.clone() };
    for (kind, look) in [("brand", look), ("plain", Look::default()), ("own", own)] {
        let pages = Pages::new("aurora", &look);
        for language in Language::all() {
            let mut all = every(&place, ADDRESS);
            all.push(("paused", Page::Waiting { place: &paused, fresh: false, unsent: false }));
            for (name, page) in all {
                let html = rendered(&pages, &page, language);
                let file = folder.join(format!("{kind}-{name}-{}.html", language.code()));
                std::fs::write(file.with_extension("csp"), pages.policy(&page)).expect("a file");
                std::fs::write(file, html).expect("a file");
            }
        }
    }
    std::fs::write(folder.join("client.js"), anteroom::page::client().plain).expect("a file");
}
