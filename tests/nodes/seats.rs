//! How many seats are taken, as it lies in Redis, read again and again while people come and go.
//!
//! A seat is taken by whoever is inside, by whoever was called and may come in (of the ordinary line, or from its head), and by those
//! whom a line that lost its memory has lost sight of. People see only the first kind; this sees all, in one moment of Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use redis::{Client, RedisResult, Value};

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

    /// What a master has; a replica is left to itself.
    fn look(client: &Client) -> RedisResult<Option<Taken>> {
        let mut connection = client.get_connection_with_timeout(LOOK)?;
        let role: Vec<Value> = redis::cmd("ROLE").query(&mut connection)?;
        if !matches!(&role[..], [Value::BulkString(role), ..] if role == b"master") {
            return Ok(None);
        }
        let key = |name: &str| format!("anteroom:{{sale}}:{name}");
        let mut all = redis::pipe();
        all.atomic().zcard(key("inside")).zcard(key("called"));
        all.hmget(key("state"), &["claimable", "missing"]);
        type Found = (u64, u64, (Option<u64>, Option<u64>));
        let (inside, called, (claimable, missing)): Found = all.query(&mut connection)?;
        let (claimable, missing) = (claimable.unwrap_or(0), missing.unwrap_or(0));
        Ok(Some(Taken { inside, called, claimable, missing }))
    }
}

impl Seats {
    /// Looks from now on, at whichever of these servers is a master, whenever it answers.
    pub fn watch(urls: &[String]) -> Seats {
        let client = |url: &String| Client::open(url.as_str()).expect("an address");
        let clients: Vec<Client> = urls.iter().map(client).collect();
        let over = Arc::new(AtomicBool::new(false));
        let until = over.clone();
        let looking = std::thread::spawn(move || {
            let mut looked = Looked::default();
            while !until.load(Ordering::Relaxed) {
                for taken in clients.iter().filter_map(|client| Taken::look(client).ok().flatten())
                {
                    looked.looks += 1;
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
    /// If more seats were taken than there are; or if nobody looked while all were.
    #[track_caller]
    pub fn judge(self, seats: u64) {
        self.over.store(true, Ordering::Relaxed);
        let Looked { looks, most } = self.looking.join().expect("no panic");
        println!("{} of {seats} seats were taken at most, in {looks} looks: {most:?}", most.all());
        assert!(most.all() <= seats, "{most:?} of {seats} seats");
        assert_eq!(
            most.all(),
            seats,
            "all were taken at some time, and nobody saw it in {looks} looks"
        );
    }
}
