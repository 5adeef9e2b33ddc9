//! The scripts, one that applies a batch and one that answers questions: their texts, and the keys they are given.
//!
//! Owns what must be the same on both sides of the wire but is no message: key names and the layout's
//! version. `lua/README.md` draws the layout. Never talks to Redis.

/// A script: the parts in `lua/lib`, in the order in which they build on each other, then a file of `lua`. Each part is a
/// block: what is local to a file stays there. The first line makes Redis refuse the whole when memory is short,
/// instead of failing at some write.
macro_rules! script {
    ($file:literal) => {
        concat!(
            "#!lua\n",
            include_str!("../../../lua/lib/parts.lua"),
            "do ",
            include_str!("../../../lua/lib/number.lua"),
            "end do ",
            include_str!("../../../lua/lib/bits.lua"),
            "end do ",
            include_str!("../../../lua/lib/scores.lua"),
            "end do ",
            include_str!("../../../lua/lib/aging.lua"),
            "end do ",
            include_str!("../../../lua/lib/state.lua"),
            "end do ",
            include_str!("../../../lua/lib/settings.lua"),
            "end do ",
            include_str!("../../../lua/lib/batch.lua"),
            "end do ",
            include_str!("../../../lua/lib/budget.lua"),
            "end do ",
            include_str!("../../../lua/lib/slots.lua"),
            "end do ",
            include_str!("../../../lua/lib/seats.lua"),
            "end do ",
            include_str!("../../../lua/lib/session.lua"),
            "end do ",
            include_str!("../../../lua/lib/spend.lua"),
            "end do ",
            include_str!("../../../lua/lib/express.lua"),
            "end do ",
            include_str!("../../../lua/lib/class.lua"),
            "end do ",
            include_str!("../../../lua/lib/release.lua"),
            "end do ",
            include_str!("../../../lua/lib/shadow.lua"),
            "end do ",
            include_str!("../../../lua/lib/sweep.lua"),
            "end do ",
            include_str!("../../../lua/lib/claim.lua"),
            "end do ",
            include_str!("../../../lua/lib/roster.lua"),
            "end do ",
            include_str!("../../../lua/lib/join.lua"),
            "end do ",
            include_str!("../../../lua/lib/heal.lua"),
            "end do ",
            include_str!("../../../lua/lib/orders.lua"),
            "end do ",
            include_str!("../../../lua/lib/letters.lua"),
            "end do ",
            include_str!("../../../lua/lib/history.lua"),
            "end do ",
            include_str!("../../../lua/lib/adaptive.lua"),
            "end do ",
            include_str!("../../../lua/lib/draw.lua"),
            "end do ",
            include_str!("../../../lua/lib/reply.lua"),
            "end ",
            include_str!(concat!("../../../lua/", $file)),
        )
    };
}

/// The script that applies a batch.
pub const TEXT: &str = script!("exchange.lua");

/// The script that answers a question.
pub const READ: &str = script!("read.lua");

/// The script that removes a room: whatever is under its keys. Without KEYS of its own a cluster would not know where.
pub const FORGET: &str = "return redis.call('UNLINK', unpack(KEYS))";

/// The layout of a room's keys that this version reads and writes. An older script meets a newer layout
/// with a refusal, before it touches anything.
pub const LAYOUT: u32 = 4;

/// The last parts of the names of a room's keys, in the order in which the script is given them.
pub const KEYS: [&str; 38] = [
    "state",
    "live",
    "used",
    "seen:0",
    "seen:1",
    "seen:2",
    "inside",
    "ended",
    "seats",
    "express",
    "strayed",
    "called",
    "present",
    "releases",
    "joined:0",
    "joined:1",
    "limits:0",
    "limits:1",
    "nodes",
    "answers",
    "spent",
    "overrides",
    "audit",
    "asked:0",
    "asked:1",
    "history",
    "letters",
    "due",
    "slots",
    "hung",
    "roster",
    "named",
    "classes",
    "classes_away",
    "invites:0",
    "invites:1",
    "tmp:0",
    "tmp:1",
];

/// A room's keys: one hash tag, so that all of them are in one slot of a cluster. A room's name has no braces.
pub fn keys(room: &str) -> Vec<String> {
    KEYS.iter().map(|name| format!("anteroom:{{{room}}}:{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::wire;
    use super::*;
    use crate::line::{Batch, MAX_FOUND, Question, Settings};

    const EXCHANGE: &str = include_str!("../../../lua/exchange.lua");
    const STATE: &str = include_str!("../../../lua/lib/state.lua");
    const PARTS: &str = include_str!("../../../lua/lib/parts.lua");
    const README: &str = include_str!("../../../lua/README.md");

    const BATCH: &str = include_str!("../../../lua/lib/batch.lua");
    const REPLY: &str = include_str!("../../../lua/lib/reply.lua");
    const QUESTIONS: &str = include_str!("../../../lua/read.lua");

    /// The words between two marks, without quotes, commas and what makes a line a comment.
    fn words<'a>(text: &'a str, from: &str, upto: &str) -> Vec<&'a str> {
        let (_, rest) = text.split_once(from).expect(from);
        let (inner, _) = rest.split_once(upto).expect(upto);
        let word = |word: &'a str| word.trim_matches(['\'', ',', '`']);
        inner.split_whitespace().map(word).filter(|word| *word != "--").collect()
    }

    /// What stands in quotes between two marks.
    fn quoted<'a>(text: &'a str, from: &str, upto: &str) -> Vec<&'a str> {
        let (_, rest) = text.split_once(from).expect(from);
        let (inner, _) = rest.split_once(upto).expect(upto);
        inner.split('\'').skip(1).step_by(2).collect()
    }

    #[test]
    fn both_sides_give_the_keys_the_same_names_in_the_same_order() {
        assert_eq!(words(EXCHANGE, "-- KEYS ", "in this order"), KEYS, "the script's header");
        assert_eq!(words(PARTS, "local NAMES = {", "}"), KEYS, "the script's list");
        let rows = README.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let keys: Vec<&str> = rows
            .filter(|(_, row)| {
                ["hash", "bitmap", "zset", "list"].iter().any(|kind| row.starts_with(kind))
            })
            .map(|(name, _)| name)
            .collect();
        assert_eq!(keys, KEYS, "the table of keys in the README");
        let key = keys.iter().zip(super::keys("tenant/sale")).next_back().unwrap();
        assert_eq!(key, (&"tmp:1", "anteroom:{tenant/sale}:tmp:1".to_owned()));
    }

    /// The highest of the numbers that stand between two marks, of which none is left out.
    fn counted(text: &str, before: &str, after: &str) -> usize {
        let number = |part: &str| part.split_once(after)?.0.parse::<usize>().ok();
        let mut found: Vec<usize> = text.split(before).skip(1).filter_map(number).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (1..=found.len()).collect::<Vec<_>>(), "{before}N{after}");
        found.len()
    }

    #[test]
    fn both_sides_give_as_many_arguments_and_parts() {
        let (args, parts) = (counted(BATCH, "ARGV[", "]"), counted(REPLY, "told[", "]"));
        let call = wire::encode("sale", &Batch { sequence: 1, ..Batch::default() }, None).unwrap();
        assert_eq!(call.args.len(), args, "what batch.lua reads and names");
        let header = REPLY.split_once("reply.APPLIED").expect("a header").0;
        assert_eq!(counted(header, "[", "]"), parts, "the header of reply.lua and what it fills");
        let empty =
            |parts: usize| redis::Value::Array(vec![redis::Value::BulkString(Vec::new()); parts]);
        for other in [parts - 1, parts + 1] {
            let error = wire::decode(empty(other)).unwrap_err().to_string();
            assert!(error.contains("parts"), "{error}");
        }
        let error = wire::decode(empty(parts)).unwrap_err().to_string();
        assert!(error.contains("head"), "as many as are read: {error}");
        const WORDS: [(&str, usize); 1] = [("fifteen", 15)];
        for (mark, count) in [("-- ARGV  ", args), ("-- reply ", parts)] {
            let (_, rest) = EXCHANGE.split_once(mark).expect(mark);
            let word = rest.split([' ', ',']).next().expect("a word");
            assert!(WORDS.contains(&(word, count)), "exchange.lua says {word}, there are {count}");
        }
    }

    #[test]
    fn the_header_of_the_reading_script_names_every_question_as_it_is_asked() {
        let said = words(QUESTIONS, "two numbers:", "-- reply").join(" ");
        let (limit, before, skip) = (7, 3, 5);
        for (question, names) in [
            (Question::Book { before, limit }, "book before limit"),
            (Question::History, "history 0 0"),
            (Question::Inside { skip, limit }, "inside skip limit"),
            (Question::Nodes, "nodes 0 0"),
            (Question::Health, "health 0 0"),
            (Question::Invites, "invites 0 limit"),
        ] {
            assert!(said.split(" | ").any(|one| one == names), "{names} is not in: {said}");
            let args = wire::ask_for(question);
            let value = |name: &str| match name {
                "before" => before.to_string(),
                "skip" => skip.to_string(),
                "limit" if question == Question::Invites => MAX_FOUND.to_string(),
                "limit" => limit.to_string(),
                literal => literal.to_owned(),
            };
            let asked: Vec<String> = names.split(' ').map(value).collect();
            assert_eq!(args, asked.iter().map(|arg| arg.as_bytes()).collect::<Vec<_>>());
        }
        assert_eq!(said.split(" | ").count(), 6, "{said}");
    }

    #[test]
    fn both_sides_mean_the_same_layout() {
        assert!(STATE.contains(&format!("state.LAYOUT = {LAYOUT}\n")));
        assert!(README.contains(&format!("Layout {LAYOUT}")));
    }

    #[test]
    fn the_readme_names_every_field_of_the_state() {
        let (_, table) = README.split_once("\n### state\n").expect("a table");
        let (table, _) = table.split_once("\n### ").expect("its end");
        let mut fields = quoted(STATE, "local NUMBERS = {", "\n}");
        fields.extend(quoted(STATE, "local TEXTS = {", "}"));
        assert!(fields.len() > 40 && fields.contains(&"run"), "{fields:?}");
        for field in fields {
            assert!(table.contains(&format!("`{field}`")), "the README says nothing of {field}");
        }
    }

    #[test]
    fn both_sides_have_the_same_defaults() {
        let text = serde_json::to_string(&Settings::default()).unwrap();
        assert!(TEXT.contains(&format!("[[{text}]]")), "settings.lua has other defaults: {text}");
    }

    #[test]
    fn every_part_is_in_it_and_named_in_its_table() {
        let lib = concat!(env!("CARGO_MANIFEST_DIR"), "/lua/lib");
        for part in std::fs::read_dir(lib).unwrap() {
            let path = part.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(TEXT.contains(&text), "{} is not in the script", path.display());
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(name == "parts" || PARTS.contains(&format!("\n--   {name} ")), "{name}");
        }
    }
}
