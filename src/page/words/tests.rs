use std::collections::HashSet;

use super::*;

/// Every text of a table, with its name.
fn texts(words: &Words) -> Vec<(&'static str, &'static str)> {
    let plain = [
        ("about", words.about),
        ("soon", words.soon),
        ("room", words.room),
        ("waiting_title", words.waiting_title),
        ("position", words.position),
        ("wait", words.wait),
        ("people", words.people),
        ("ticket", words.ticket),
        ("keep", words.keep),
        ("paused", words.paused),
        ("paused_short", words.paused_short),
        ("unsent", words.unsent),
        ("leave", words.leave),
        ("leave_sure", words.leave_sure),
        ("connected", words.connected),
        ("updated", words.updated),
        ("reconnecting", words.reconnecting),
        ("last_known", words.last_known),
        ("admitted_title", words.admitted_title),
        ("admitted_text", words.admitted_text),
        ("admitted_window", words.admitted_window),
        ("admitted_go", words.admitted_go),
        ("rejoin", words.rejoin),
        ("frame_open", words.frame_open),
        ("not_sent_go", words.not_sent_go),
        ("again", words.again),
        ("try_now", words.try_now),
        ("name_title", words.name_title),
        ("name_text", words.name_text),
        ("name_label", words.name_label),
        ("name_join", words.name_join),
        ("name_taken", words.name_taken),
        ("name_unfit", words.name_unfit),
        ("inside", words.inside),
        ("opens", words.opens),
        ("draw_title", words.draw_title),
        ("draw_text", words.draw_text),
        ("draw_link", words.draw_link),
        ("draw_promise", words.draw_promise),
        ("draw_seed", words.draw_seed),
        ("draw_place", words.draw_place),
        ("draw_check", words.draw_check),
        ("draw_soon", words.draw_soon),
        ("draw_good", words.draw_good),
        ("draw_other_seed", words.draw_other_seed),
        ("draw_other_place", words.draw_other_place),
        ("draw_unpromised", words.draw_unpromised),
        ("draw_outside", words.draw_outside),
    ];
    let notices = [
        words.passed,
        words.used,
        words.completed,
        words.left,
        words.revoked,
        words.idle,
        words.capped,
        words.unknown,
        words.closed,
        words.full,
        words.busy,
        words.lost,
        words.down,
        words.slow,
        words.frame,
        words.cookies,
        words.not_sent,
        words.error,
    ];
    let notices = notices.map(|notice| [("title", notice.title), ("text", notice.text)]);
    plain.into_iter().chain(notices.into_iter().flatten()).collect()
}

#[test]
fn every_text_is_there_and_has_its_hole() {
    for words in ALL {
        for (name, text) in texts(words) {
            let wanted = ["about", "updated", "admitted_window", "again", "opens"].contains(&name);
            let code = words.code;
            assert!(!text.trim().is_empty(), "{code}: {name} is empty");
            assert_eq!(text, text.trim(), "{code}: {name}");
            assert_eq!(text.matches("{}").count(), usize::from(wanted), "{code}: {name}: {text}");
            assert!(!text.contains(['<', '>', '&', '"', '\'']), "{code}: {name}: {text}");
        }
    }
}

#[test]
fn every_number_has_its_form() {
    for words in ALL {
        for forms in [words.seconds, words.minutes, words.hours] {
            for number in 0..1_200 {
                let form = forms.of(words.plural, number, false);
                let code = words.code;
                assert!(!form.is_empty(), "{code}: {number}");
                // Only a form for one number may leave it out.
                assert!(form.contains("{}") || number <= 2, "{code}: {number}: {form}");
                let range = forms.of(words.plural, number.max(2), true);
                assert!(range.contains("{}"), "{code}: up to {number}: {range}");
            }
        }
    }
}

#[test]
fn languages_differ_and_know_their_direction() {
    let codes: HashSet<_> = ALL.iter().map(|words| words.code).collect();
    assert_eq!(codes.len(), ALL.len());
    let rtl: HashSet<_> = ALL.iter().filter(|words| words.rtl).map(|words| words.code).collect();
    assert_eq!(rtl, HashSet::from(["ar", "he"]));
    // Nobody forgot to translate: hardly a text is the same in two languages.
    for words in &ALL[1..] {
        let english: HashSet<_> = texts(ALL[0]).into_iter().map(|(_, text)| text).collect();
        let same: Vec<_> =
            texts(words).into_iter().filter(|(_, text)| english.contains(text)).collect();
        assert!(same.is_empty(), "{}: {same:?}", words.code);
    }
}
