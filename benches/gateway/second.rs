//! The same client by HTTP/2 over TLS, as browsers ask.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use h2::client::SendRequest;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;

use super::client::{Answer, Ask};

/// What connections go on in.
pub fn runtime() -> Arc<Runtime> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    Arc::new(runtime.expect("a runtime"))
}

/// A connection.
pub struct Second {
    runtime: Arc<Runtime>,
    sender: SendRequest<Bytes>,
}

impl Second {
    /// Connects. `config` offers HTTP/2.
    pub fn open(
        runtime: &Arc<Runtime>,
        address: SocketAddr,
        config: &Arc<ClientConfig>,
    ) -> io::Result<Second> {
        let connector = TlsConnector::from(config.clone());
        let sender = runtime.block_on(async {
            let tcp = TcpStream::connect(address).await?;
            tcp.set_nodelay(true)?;
            let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
            let stream = connector.connect(name, tcp).await?;
            let (sender, connection) =
                h2::client::handshake(stream).await.map_err(io::Error::other)?;
            tokio::spawn(async move { drop(connection.await) });
            Ok::<_, io::Error>(sender)
        })?;
        Ok(Second { runtime: runtime.clone(), sender })
    }
}

impl Ask for Second {
    fn ask(&mut self, request: &str) -> io::Result<Answer> {
        let request = head_of(request)?;
        let sender = self.sender.clone();
        let asked = async {
            let mut sender = sender.ready().await?;
            let response = sender.send_request(request, true)?.0.await?;
            let (status, mut stream) = (response.status().as_u16(), response.into_body());
            let mut body = Vec::new();
            while let Some(part) = stream.data().await {
                let part = part?;
                stream.flow_control().release_capacity(part.len())?;
                body.extend_from_slice(&part);
            }
            Ok(Answer { status, head: String::new(), body })
        };
        self.runtime.block_on(asked).map_err(|error: h2::Error| io::Error::other(error))
    }
}

/// The head of a request as HTTP/1 writes it.
fn head_of(request: &str) -> io::Result<http::Request<()>> {
    let mut lines = request.lines();
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or("/");
    let mut head = http::Request::builder().version(http::Version::HTTP_2);
    let mut host = "localhost";
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        match name.to_ascii_lowercase().as_str() {
            "host" => host = value,
            "connection" => {}
            name => head = head.header(name, value),
        }
    }
    head.uri(format!("https://{host}{target}")).body(()).map_err(io::Error::other)
}
