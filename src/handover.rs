//! One process takes over from another without a connection being refused.
//!
//! Owns the conversation between the two, over a unix socket that only the operator's own processes can open:
//!
//! ```text
//!   new ── connects ────────────────────────────────► old
//!   new ◄─ the listening sockets, by their names ──── old    both could accept now; only old does
//!   new ── "go": configuration and certificates are good ──► old stops accepting, ends what is idle,
//!   new ◄─ closes the connection ──────────────────── old    and closes its store
//!   new opens the store and accepts                   old serves what is under way, then ends
//! ```
//! Who connects meanwhile waits in the sockets' own queue: they are the same sockets, and never closed. If the new
//! process fails before "go", nothing has happened.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

/// As many sockets as go in one message.
const MAX_SOCKETS: usize = 32;
/// Their names, one a line.
const MAX_NAMES: usize = 4096;
/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

/// A listening socket, and the address it was configured with.
pub type Named = (String, TcpListener);

/// The old process's side.
pub struct Heir {
    listener: UnixListener,
}

/// A new process that has said "go": it waits until this is dropped.
pub struct Waiting {
    _stream: UnixStream,
}

impl Heir {
    /// Waits for heirs at `path`.
    ///
    /// # Errors
    /// The system's.
    pub fn expect(path: &Path) -> io::Result<Heir> {
        // What is left of a process before us is in nobody's use: it would have been asked.
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Heir { listener })
    }

    /// Until a new process has the sockets and says "go".
    pub async fn next(&self, sockets: &[Named]) -> Waiting {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            match timeout(PATIENCE, offer(&mut stream, sockets)).await {
                Ok(Ok(())) => return Waiting { _stream: stream },
                Ok(Err(error)) => {
                    tracing::warn!(event = "node.not_relieved", %error, "a process that would take over did not")
                }
                Err(_) => tracing::warn!(
                    event = "node.not_relieved",
                    "a process that would take over said nothing"
                ),
            }
        }
    }
}

async fn offer(stream: &mut UnixStream, sockets: &[Named]) -> io::Result<()> {
    let names: Vec<&str> = sockets.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join("\n");
    let files: Vec<BorrowedFd<'_>> = sockets.iter().map(|(_, socket)| socket.as_fd()).collect();
    let send = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
        let mut files_sent = SendAncillaryBuffer::new(&mut space);
        if !files_sent.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(io::Error::other("more sockets than one message holds"));
        }
        let text = [IoSlice::new(names.as_bytes())];
        Ok(sendmsg(stream.as_fd(), &text, &mut files_sent, SendFlags::empty())?)
    };
    stream.async_io(Interest::WRITABLE, send).await?;
    stream.read_u8().await?;
    Ok(())
}

/// The new process's side.
pub struct Predecessor {
    stream: UnixStream,
}

impl Predecessor {
    /// The process at `path` and its sockets; `None` if nobody is there.
    ///
    /// # Errors
    /// The system's, or a conversation that can't be followed.
    pub async fn ask(path: &Path) -> io::Result<Option<(Predecessor, Vec<Named>)>> {
        let stream = match UnixStream::connect(path).await {
            Ok(stream) => stream,
            Err(error) if is_nobody(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let receive = || {
            let mut names = [0; MAX_NAMES];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
            let mut files = RecvAncillaryBuffer::new(&mut space);
            let mut text = [IoSliceMut::new(&mut names)];
            let read =
                recvmsg(stream.as_fd(), &mut text, &mut files, RecvFlags::CMSG_CLOEXEC)?.bytes;
            let files: Vec<OwnedFd> = (files.drain())
                .filter_map(|message| match message {
                    RecvAncillaryMessage::ScmRights(files) => Some(files),
                    _ => None,
                })
                .flatten()
                .collect();
            Ok((String::from_utf8_lossy(&names[..read]).into_owned(), files))
        };
        let received = timeout(PATIENCE, stream.async_io(Interest::READABLE, receive)).await;
        let (names, files) = received.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let sockets =
            names.lines().map(str::to_owned).zip(files.into_iter().map(TcpListener::from));
        Ok(Some((Predecessor { stream }, sockets.collect())))
    }

    /// Says "go", and waits until the other has let go of its store.
    ///
    /// # Errors
    /// The system's, or too long a silence.
    pub async fn relieve(mut self) -> io::Result<()> {
        self.stream.write_u8(1).await?;
        let mut end = [0; 1];
        match timeout(PATIENCE, self.stream.read(&mut end)).await {
            Ok(read) => read.map(|_| ()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}
