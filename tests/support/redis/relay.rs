//! A wire to a server that a test can delay, stop and cut.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::support::eventually;

/// A wire; gone when it is dropped.
pub struct Relay {
    address: SocketAddr,
    to: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    delay_ms: AtomicU64,
    stopped: AtomicBool,
    closing: AtomicBool,
    taken: AtomicUsize,
    bytes: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// A wire to an address.
    #[track_caller]
    pub fn to(to: SocketAddr) -> Relay {
        Relay::between(SocketAddr::from(([127, 0, 0, 1], 0)), to)
    }

    /// A wire that begins at a certain address.
    #[track_caller]
    pub fn between(address: SocketAddr, to: SocketAddr) -> Relay {
        let mut relay = Relay { address, to, state: Arc::default(), accepting: None };
        relay.mend();
        relay
    }

    /// Where it begins.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// `redis://` and where it begins.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// How many connections were made over it so far.
    pub fn connections(&self) -> usize {
        self.state.taken.load(Ordering::SeqCst)
    }

    /// How many bytes went to the server so far.
    pub fn bytes(&self) -> usize {
        self.state.bytes.load(Ordering::SeqCst)
    }

    /// From now on everything takes this much longer, each way.
    pub fn delay(&self, delay: Duration) {
        let delay_ms = u64::try_from(delay.as_millis()).expect("a delay");
        self.state.delay_ms.store(delay_ms, Ordering::SeqCst);
    }

    /// A black hole: connections stay, and are taken, and nothing comes out at the other end.
    pub fn stop(&self) {
        self.state.stopped.store(true, Ordering::SeqCst);
    }

    /// No longer, for connections made from now on. What was swallowed stays swallowed.
    pub fn go(&self) {
        self.state.stopped.store(false, Ordering::SeqCst);
    }

    /// Ends every connection. New ones are taken.
    pub fn hang_up(&self) {
        let mut open = self.state.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends every connection, and nobody is there any more.
    pub fn cut(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        self.state.closing.store(true, Ordering::SeqCst);
        // Whoever waits in accept gets one more.
        let _ = TcpStream::connect(self.address);
        let _ = accepting.join();
        self.hang_up();
    }

    /// Puts it together again, in the same place.
    #[track_caller]
    pub fn mend(&mut self) {
        let listener = eventually("the same port", || TcpListener::bind(self.address).ok());
        self.address = listener.local_addr().expect("an address");
        self.state.closing.store(false, Ordering::SeqCst);
        let (to, state) = (self.to, self.state.clone());
        self.accepting = Some(std::thread::spawn(move || {
            for stream in listener.incoming() {
                if state.closing.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(near) = stream {
                    state.taken.fetch_add(1, Ordering::SeqCst);
                    connect(near, to, &state);
                }
            }
        }));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
    }
}

/// Two ends, both ways. A connection that begins while the wire is stopped never reaches the server.
fn connect(near: TcpStream, to: SocketAddr, state: &Arc<State>) {
    let same = |stream: &TcpStream| stream.try_clone().expect("a file more");
    let keep = |stream: &TcpStream| {
        state.open.lock().unwrap_or_else(PoisonError::into_inner).push(same(stream));
    };
    keep(&near);
    if state.stopped.load(Ordering::SeqCst) {
        return;
    }
    let Ok(far) = TcpStream::connect(to) else { return };
    keep(&far);
    for stream in [&near, &far] {
        let _ = stream.set_nodelay(true);
    }
    for (from, into, out) in [(same(&near), same(&far), true), (far, near, false)] {
        let (send, receive) = channel();
        let (reading, writing) = (state.clone(), state.clone());
        std::thread::spawn(move || read(from, &reading, &send, out));
        std::thread::spawn(move || write(into, &writing, &receive));
    }
}

/// Takes what comes in and notes when it is due.
fn read(mut from: TcpStream, state: &State, send: &Sender<(Instant, Vec<u8>)>, out: bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0 {
            return;
        }
        let delay = Duration::from_millis(state.delay_ms.load(Ordering::SeqCst));
        if out {
            state.bytes.fetch_add(read, Ordering::SeqCst);
        }
        if send.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
            return;
        }
    }
}

/// Hands on what is due. Once the wire was stopped, this connection stays mute.
fn write(mut into: TcpStream, state: &State, receive: &Receiver<(Instant, Vec<u8>)>) {
    let mut mute = false;
    for (due, bytes) in receive {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        mute |= state.stopped.load(Ordering::SeqCst);
        if !mute && into.write_all(&bytes).is_err() {
            return;
        }
    }
    if !mute {
        let _ = into.shutdown(Shutdown::Write);
    }
}
