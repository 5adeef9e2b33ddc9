//! A wire between a browser and a gateway that a test can cut, and at whose other end something else can answer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::support::{Gateway, eventually};

/// What a proxy in front answers whose way to us is broken.
const BROKEN: &[u8] = b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html\r\n\
    Content-Length: 13\r\nConnection: close\r\n\r\n<h1>Oops</h1>";

/// A wire; gone when it is dropped.
pub struct Relay {
    address: SocketAddr,
    to: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
    /// Whether something else answers.
    broken: Arc<AtomicBool>,
    stopping: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Relay {
    /// A wire to a gateway.
    pub fn to(gateway: &Gateway) -> Relay {
        let mut relay = Relay {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            to: gateway.addr(),
            open: Arc::default(),
            broken: Arc::default(),
            stopping: Arc::default(),
            accepting: None,
        };
        relay.mend();
        relay
    }

    /// The address of a path, over this wire.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Where it begins.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Whether something in front answers for the gateway: that it is broken.
    pub fn breaks(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
        self.close();
    }

    /// Cuts it: what is open ends, and nobody is there any more.
    pub fn cut(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        self.stopping.store(true, Ordering::SeqCst);
        // Whoever waits in accept gets one more.
        let _ = TcpStream::connect(self.address);
        let _ = accepting.join();
        self.close();
    }

    /// Puts it together again.
    pub fn mend(&mut self) {
        let listener = eventually("the same port", || TcpListener::bind(self.address).ok());
        self.address = listener.local_addr().expect("an address");
        self.stopping.store(false, Ordering::SeqCst);
        let (to, open) = (self.to, self.open.clone());
        let (stopping, broken) = (self.stopping.clone(), self.broken.clone());
        self.accepting = Some(std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(near) = stream else { continue };
                match broken.load(Ordering::SeqCst) {
                    true => drop(std::thread::spawn(move || answer(near))),
                    false => connect(near, to, &open),
                }
            }
        }));
    }

    fn close(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
    }
}

/// Two ends, both ways.
fn connect(near: TcpStream, to: SocketAddr, open: &Mutex<Vec<TcpStream>>) {
    let Ok(far) = TcpStream::connect(to) else { return };
    let same = |stream: &TcpStream| stream.try_clone().expect("a file more");
    open.lock().unwrap_or_else(PoisonError::into_inner).extend([same(&near), same(&far)]);
    for (mut from, mut into) in [(same(&near), same(&far)), (far, near)] {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut into);
            let _ = into.shutdown(Shutdown::Write);
        });
    }
}

fn answer(mut stream: TcpStream) {
    let mut request = [0; 16 * 1024];
    if stream.read(&mut request).is_ok_and(|read| read > 0) {
        let _ = stream.write_all(BROKEN);
    }
}
