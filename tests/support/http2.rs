//! HTTP/2 over TLS, as a browser speaks it.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::client::{Request, Response};
use super::gateway::Gateway;
use super::{PATIENCE, tls};

/// A connection, with many requests at once if need be.
pub struct Http2 {
    runtime: Runtime,
    sender: SendRequest<Bytes>,
    connection: JoinHandle<()>,
}

impl Http2 {
    /// Connects.
    #[track_caller]
    pub fn open(gateway: &Gateway) -> Http2 {
        Http2::to(gateway.tls_addr(), &tls::certificate(gateway.directory()))
    }

    /// Connects to an address with a certificate.
    #[track_caller]
    pub fn to(address: SocketAddr, certificate: &[u8]) -> Http2 {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let config = tls::client(certificate, b"h2");
        let (sender, connection) = in_time(&runtime, async move {
            let tcp = TcpStream::connect(address).await.expect("a connection");
            let name = ServerName::try_from("shop.example").expect("a name");
            let stream = TlsConnector::from(config).connect(name, tcp).await.expect("TLS");
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            let (sender, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
            // It ends with the other end.
            (sender, tokio::spawn(async move { drop(connection.await) }))
        });
        Http2 { runtime, sender, connection }
    }

    /// Sends a request and reads its response.
    #[track_caller]
    pub fn ask(&mut self, request: &Request) -> Response {
        self.try_ask(request).expect("a response")
    }

    /// Sends a request, if it is taken.
    pub fn try_ask(&mut self, request: &Request) -> Result<Response, h2::Error> {
        let sender = self.sender.clone();
        in_time(&self.runtime, exchange(sender, request.clone()))
    }

    /// The same where the connection takes a request; `None` if it takes none any more, so that nobody has heard of this one.
    pub fn ask_if_open(&mut self, request: &Request) -> Option<Result<Response, h2::Error>> {
        let (sender, request) = (self.sender.clone(), request.clone());
        in_time(&self.runtime, async move {
            let mut sender = sender.ready().await.ok()?;
            let sent = send(&mut sender, request).ok()?;
            Some(sent.await)
        })
    }

    /// Sends a request that says that it has a body, a byte of it, and nothing more. What comes of it.
    pub fn stall(&mut self, request: &Request) -> Result<Response, h2::Error> {
        let sender = self.sender.clone();
        in_time(&self.runtime, async move {
            let mut sender = sender.ready().await?;
            let (response, mut stream) = sender.send_request(head_of(request), false)?;
            stream.send_data(Bytes::from_static(b"1"), false)?;
            // The stream must live for as long as somebody waits.
            let response = read(response.await?).await;
            drop(stream);
            response
        })
    }

    /// Waits until the other end closes the connection; whether it does.
    pub fn ends(&mut self, patience: Duration) -> bool {
        self.runtime.block_on(async { timeout(patience, &mut self.connection).await }).is_ok()
    }

    /// Sends several requests at once.
    pub fn ask_all(&mut self, requests: &[Request]) -> Vec<Response> {
        let asked: Vec<_> = requests
            .iter()
            .map(|request| self.runtime.spawn(exchange(self.sender.clone(), request.clone())))
            .collect();
        in_time(&self.runtime, async {
            let mut responses = Vec::new();
            for one in asked {
                responses.push(one.await.expect("no panic").expect("a response"));
            }
            responses
        })
    }
}

#[track_caller]
fn in_time<T>(runtime: &Runtime, work: impl Future<Output = T>) -> T {
    runtime.block_on(async { timeout(PATIENCE, work).await }).expect("an answer in time")
}

fn head_of(request: &Request) -> http::Request<()> {
    let uri = format!("https://{}{}", request.host, request.target);
    let mut head = http::Request::builder().method(request.method.as_str()).uri(uri);
    head = head.version(http::Version::HTTP_2);
    for (name, value) in &request.headers {
        head = head.header(name.to_ascii_lowercase(), value);
    }
    if let Some(body) = &request.body {
        head = head.header("content-length", body.len());
    }
    head.body(()).expect("a request")
}

async fn exchange(sender: SendRequest<Bytes>, request: Request) -> Result<Response, h2::Error> {
    let mut sender = sender.ready().await?;
    send(&mut sender, request)?.await
}

/// Sends a head; the rest of it is to be waited for.
fn send(
    sender: &mut SendRequest<Bytes>,
    request: Request,
) -> Result<impl Future<Output = Result<Response, h2::Error>> + use<>, h2::Error> {
    let ended = request.body.as_ref().is_none_or(Vec::is_empty);
    let (response, mut stream) = sender.send_request(head_of(&request), ended)?;
    Ok(async move {
        let mut body = Bytes::from(request.body.unwrap_or_default());
        while !body.is_empty() {
            stream.reserve_capacity(body.len().min(16 * 1024));
            let room = match std::future::poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(Ok(room)) => room,
                // Whoever answered before is not listening any more.
                _ => break,
            };
            let part = body.split_to(room.min(body.len()));
            if stream.send_data(part, body.is_empty()).is_err() {
                break;
            }
        }
        read(response.await?).await
    })
}

async fn read(response: http::Response<h2::RecvStream>) -> Result<Response, h2::Error> {
    let headers = response.headers().iter();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut read = Response {
        status: response.status().as_u16(),
        version: "HTTP/2".to_owned(),
        headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
        ..Response::default()
    };
    let mut body = response.into_body();
    while let Some(part) = body.data().await {
        let part = part?;
        let _ = body.flow_control().release_capacity(part.len());
        read.body.extend_from_slice(&part);
    }
    Ok(read)
}
