//! The site behind the nodes: says whom it sees, and is done with whoever says so.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Serves everybody, for as long as it is polled.
pub async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let _ = answer(stream).await;
        });
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut unread = Vec::new();
    loop {
        while !unread.windows(4).any(|four| four == b"\r\n\r\n") {
            if stream.read_buf(&mut unread).await? == 0 {
                return Ok(());
            }
        }
        let head = String::from_utf8_lossy(&std::mem::take(&mut unread)).into_owned();
        let number = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("x-anteroom-number").then_some(value)
        });
        let order = match head.starts_with("GET /done") {
            true => "X-Anteroom-Command: complete\r\n",
            false => "",
        };
        let number = number.unwrap_or("0");
        let text = format!(
            "HTTP/1.1 200 OK\r\nX-Seen-Number: {number}\r\n{order}Content-Length: 6\r\n\r\ninside"
        );
        stream.write_all(text.as_bytes()).await?;
    }
}
