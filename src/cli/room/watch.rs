//! `anteroom room watch`: a room as it changes, on a screen that is written over; a line a second where there is no screen.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use super::call::Port;
use super::show;
use crate::cli::Done;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Of the past, as many looks.
const PAST: usize = 60;
/// Of the line, as many.
const NEXT: u64 = 8;
/// Eighths of a character's height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Looks until it has looked so often, or for ever.
pub(super) fn run(port: &Port, path: &str, count: Option<u64>, json: bool) -> Done {
    let screen = io::stdout().is_terminal() && !json;
    let mut past: VecDeque<u64> = VecDeque::with_capacity(PAST);
    let mut looks = 0;
    loop {
        let room = port.get(path)?;
        if past.len() == PAST {
            past.pop_front();
        }
        past.push_back(room["waiting"].as_u64().unwrap_or(0));
        let text = match (json, screen) {
            (true, _) => format!("{room}\n"),
            (_, true) => {
                let line = port.get(&format!("{path}/line?limit={NEXT}"))?;
                // Home, and to the end of each line and of the screen: nothing flickers.
                let shown = page(&room, &line, &past).replace('\n', "\x1b[K\n");
                format!("\x1b[H{shown}\x1b[J")
            }
            _ => brief(&room),
        };
        let mut out = io::stdout().lock();
        // A reader that left ends it.
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            break;
        }
        drop(out);
        looks += 1;
        if count.is_some_and(|count| looks >= count) {
            break;
        }
        std::thread::sleep(LOOK);
    }
    Ok((String::new(), ExitCode::SUCCESS))
}

fn brief(room: &Value) -> String {
    format!(
        "{} waiting {} called {} inside {} entered {}\n",
        show::text(room, "server_time"),
        show::text(room, "waiting"),
        show::text(room, "admitted"),
        show::text(room, "active"),
        show::text(room, "admitted_total"),
    )
}

fn page(room: &Value, line: &Value, past: &VecDeque<u64>) -> String {
    let mut page = show::status(room);
    let _ = writeln!(page, "\n{:<14} {}", "waiting", bars(past));
    let _ = write!(page, "\n{}\nCtrl-C ends this; the room goes on.\n", show::line(line));
    page
}

/// The past as a row of bars, the highest as high as a line.
fn bars(past: &VecDeque<u64>) -> String {
    let most = past.iter().copied().max().unwrap_or(0).max(1);
    past.iter().map(|one| BARS[(one * 7 / most) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_as_high_as_it_was() {
        assert_eq!(bars(&[0, 4, 8].into()), "▁▄█");
        assert_eq!(bars(&[0, 0].into()), "▁▁");
        assert_eq!(bars(&VecDeque::new()), "");
    }
}
