//! How many seats are taken, as it lies in Redis, read again and again while people come and go.
//!
//! A seat is taken by whoever is inside, by whoever was called and may come in (of the ordinary line, or from its head), and by those
//! whom a line that lost its memory has lost sight of. People see only the first kind; this sees all, in one moment of Redis. In a room
//! with slots it sees, too, who has which.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anteroom::line::Number;
use redis::{Client, RedisResult};

/// Between two looks: a beat of a node has ten of them.
const LOOK: Duration = Duration::from_millis(50);

/// Somebody who looks.
pub struct Seats {
    over: Arc<AtomicBool>,
    looking: JoinHandle<Looked>,
}

/// What was seen.
#[derive(Default)]
struct Looked {
    looks: u64,
    most: Taken,
    /// Two inside in one slot: what was seen, once.
    shared: Option<String>,
}

/// Seats that are taken at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    inside: u64,
    /// Called from the head of the line.
    called: u64,
    /// Called from the ordinary one.
    claimable: u64,
    missing: u64,
}

impl Taken {
    fn all(&self) -> u64 {
        self.inside + self.called + self.claimable + self.missing
    }

    /// What is taken, and who is inside in which slot.
    fn look(client: &Client) -> RedisResult<(Taken, Sitting)> {
        let mut connection = client.get_connection_with_timeout(LOOK)?;
        let key = |name: &str| format!("anteroom:{{sale}}:{name}");
        let mut all = redis::pipe();
        all.atomic().zcard(key("inside")).zcard(key("called"));
        all.hmget(key("state"), &["claimable", "missing"]);
        all.zrange(key("inside"), 0, -1).hgetall(key("slots"));
        type Slots = HashMap<Number, u64>;
        type Found = (u64, u64, (Option<u64>, Option<u64>), Vec<Vec<u8>>, Slots);
        let (inside, called, counted, here, slots): Found = all.query(&mut connection)?;
        let (claimable, missing) = (counted.0.unwrap_or(0), counted.1.unwrap_or(0));
        // Of seats that are over, too.
        let sits = |member: Vec<u8>| {
            // Six bytes, big-endian: lua/lib/number.lua.
            let number = member.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            slots.get(&number).map(|slot| (number, *slot))
        };
        let sitting = here.into_iter().filter_map(sits).collect();
        Ok((Taken { inside, called, claimable, missing }, sitting))
    }
}

/// Who sits in which slot.
type Sitting = Vec<(Number, u64)>;

/// Whether two sit in one.
fn is_shared(sitting: &Sitting) -> bool {
    let slots: HashSet<u64> = sitting.iter().map(|(_, slot)| *slot).collect();
    slots.len() < sitting.len()
}

impl Seats {
    /// Looks from now on, whenever this server answers.
    pub fn watch(url: &str) -> Seats {
        let client = Client::open(url).expect("an address");
        let over = Arc::new(AtomicBool::new(false));
        let until = over.clone();
        let looking = std::thread::spawn(move || {
            let mut looked = Looked::default();
            while !until.load(Ordering::Relaxed) {
                if let Ok((taken, sitting)) = Taken::look(&client) {
                    looked.looks += 1;
                    if is_shared(&sitting) {
                        looked.shared.get_or_insert_with(|| format!("{sitting:?}"));
                    }
                    if taken.all() > looked.most.all() {
                        looked.most = taken;
                    }
                }
                std::thread::sleep(LOOK);
            }
            looked
        });
        Seats { over, looking }
    }

    /// # Panics
    /// If more seats were taken than there are, or two had the same slot; or if nobody looked while all were.
    #[track_caller]
    pub fn judge(self, seats: u64) {
        self.over.store(true, Ordering::Relaxed);
        let Looked { looks, most, shared } = self.looking.join().expect("no panic");
        println!("{} of {seats} seats were taken at most, in {looks} looks: {most:?}", most.all());
        assert_eq!(shared, None, "who was inside in which slot");
        assert!(most.all() <= seats, "{most:?} of {seats} seats");
        assert_eq!(
            most.all(),
            seats,
            "all were taken at some time, and nobody saw it in {looks} looks"
        );
    }
}
