//! Who keeps polling stays in line, however long it is and however slowly the store answers: marks from the poll to the sweep,
//! through a whole node.

use std::collections::HashMap;

use tokio::time::Instant;

use super::*;

/// Places of which a node says the marks together, and as many as there are in this line.
const PART: u64 = anteroom::room::PART;
const LINE: u64 = 6 * PART;
/// Who polls, all over it. Many enough that their marks are bits.
const STRIDE: usize = 31;
/// What a busy Redis far away takes for an answer.
const ANSWER: Duration = Duration::from_millis(300);
/// Between two looks at who polls.
const STEP: Duration = Duration::from_millis(250);

/// Takes its time, by the time of the test, and notes when it heard of whom.
struct Far {
    line: Mutex<Line>,
    began: Instant,
    /// When it last did.
    heard: Mutex<HashMap<Number, Instant>>,
    /// The longest that it did not.
    silent: Mutex<Duration>,
    /// How many marks there were in each batch that had any, and how far apart they were.
    batches: Mutex<Vec<(usize, u64)>>,
}

impl Far {
    fn moment(&self) -> Moment {
        Moment { wall_ms: START_MS + self.began.elapsed().as_millis() as u64, run: 1 }
    }

    fn hear(&self, marks: &[Number]) {
        let (now, mut heard) = (Instant::now(), self.heard.lock().expect("not poisoned"));
        let before = marks.iter().filter_map(|number| heard.insert(*number, now));
        let longest = before.map(|before| now - before).max().unwrap_or_default();
        let mut silent = self.silent.lock().expect("not poisoned");
        *silent = silent.max(longest);
    }

    fn counts(&self) -> Counts {
        self.line.lock().expect("not poisoned").counts()
    }
}

impl Store for Far {
    fn exchange<'a>(
        &'a self,
        _: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            tokio::time::sleep(ANSWER / 2).await;
            let reply = self.line.lock().expect("not poisoned").apply(&batch, self.moment());
            if let (Some(low), Some(high)) = (batch.marks.iter().min(), batch.marks.iter().max()) {
                let mut batches = self.batches.lock().expect("not poisoned");
                batches.push((batch.marks.len(), high - low + 1));
            }
            self.hear(&batch.marks);
            tokio::time::sleep(ANSWER / 2).await;
            Ok(reply?)
        })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move { Ok(question.nothing()) })
    }
}

/// A long line in which some poll three times in a timeout, for several periods.
fn some_poll(timeout: Duration) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    let settings = Settings {
        heartbeat_timeout_ms: timeout.as_millis() as u64,
        max_waiting: None,
        mode: Mode::Hold,
        ..Settings::default()
    };
    let polling: Vec<Number> = (1..=LINE).step_by(STRIDE).collect();
    runtime.block_on(async {
        let store = Arc::new(Far {
            line: Mutex::new(Line::founded(Moment { wall_ms: START_MS, run: 1 })),
            began: Instant::now(),
            heard: Mutex::default(),
            silent: Mutex::default(),
            batches: Mutex::default(),
        });
        let room = Arc::new(Room::new("sale", 7, offer(settings)));
        let (driven, asked) = (room.clone(), store.clone());
        let driver = tokio::spawn(async move { driven.drive(&*asked).await });
        until(|| store.counts().epoch > 0 && room.view().settings().is_some()).await;
        number(room.join(None).await);
        for (sequence, from) in (1..).zip((1..LINE).step_by(1_000_000)) {
            let count = (LINE - from).min(1_000_000) as u32;
            let epoch = store.counts().epoch;
            let joins = vec![Join::Plain(count)];
            let batch = Batch { node: 99, sequence, epoch, joins, ..Batch::default() };
            let reply = store.line.lock().expect("not poisoned").apply(&batch, store.moment());
            reply.expect("a good batch");
        }
        assert_eq!(store.counts().waiting, LINE);
        until(|| room.view().counts().issued == LINE).await;
        let steps = (timeout.as_millis() / 3 / STEP.as_millis()) as usize;
        let began = Instant::now();
        let mut swept = None;
        while began.elapsed() < 4 * timeout {
            let step = (began.elapsed().as_millis() / STEP.as_millis()) as usize % steps;
            // Far from each other in the line, so that each moment there is somebody in every part.
            for number in polling.iter().skip(step).step_by(steps) {
                room.seen(proof(&room, *number));
            }
            let Counts { dropped, waiting, .. } = store.counts();
            if swept.is_none() && dropped > 0 {
                swept = Some(began.elapsed());
            }
            if swept.is_some() {
                let here = polling.len() as u64;
                assert_eq!((waiting, dropped), (here, LINE - here), "who polls is here");
            }
            tokio::time::sleep(STEP).await;
        }
        driver.abort();
        let swept = swept.expect("whoever does not poll is away");
        assert!(swept < 2 * timeout, "{swept:?}");
        let live = |number: &&Number| {
            let line = store.line.lock().expect("not poisoned");
            line.standing(**number) == Standing::Waiting
        };
        assert_eq!(polling.iter().filter(live).count(), polling.len());

        let batches = store.batches.lock().expect("not poisoned");
        let bits = batches.iter().filter(|(count, _)| *count > MARKS_LISTED);
        let many = bits.clone().count();
        assert!(many > 50, "{many} batches with bits");
        let longest = bits.map(|(_, places)| *places).max().unwrap_or(0);
        assert!(longest < LINE / 3, "a part of the line at a time: {longest}");
        let silent = *store.silent.lock().expect("not poisoned");
        let bound = timeout * 9 / 10 + 2 * ANSWER + STEP;
        assert!(silent <= bound, "{silent:?} is more than nine tenths of {timeout:?}");
    });
}

#[test]
fn nobody_who_polls_is_dropped_from_a_long_line_with_a_short_timeout() {
    some_poll(Duration::from_secs(60));
}

#[test]
fn nobody_who_polls_is_dropped_from_a_long_line_with_a_long_timeout() {
    some_poll(Duration::from_secs(150));
}
