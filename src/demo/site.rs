//! The site of the demo: one page, which says who came in.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::apps::ServerApp as _;
use pingora::apps::http_app::{HttpServer, ServeHttp};
use pingora::protocols::Stream;
use pingora::protocols::http::ServerSession;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::gateway::connection::Connection;

const PAGE: &str = include_str!("../../templates/demo.html");

struct Site;

#[async_trait]
impl ServeHttp for Site {
    async fn response(&self, session: &mut ServerSession) -> http::Response<Vec<u8>> {
        let header = |name: &str| {
            let value = session.req_header().headers.get(name);
            value.and_then(|value| value.to_str().ok()).unwrap_or("-").to_owned()
        };
        let body = PAGE
            .replace("{{number}}", &escape(&header("x-anteroom-number")))
            .replace("{{visitor}}", &escape(&header("x-anteroom-visitor")))
            .replace("{{room}}", &escape(&header("x-anteroom-room")));
        let mut response = http::Response::new(body.into_bytes());
        let headers = response.headers_mut();
        headers.insert("content-type", http::HeaderValue::from_static("text/html; charset=utf-8"));
        let length = http::HeaderValue::from(response.body().len());
        response.headers_mut().insert("content-length", length);
        response
    }
}

/// The site's headers come from the gateway; the page would not trust them either.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Serves the site for as long as it is polled.
pub(super) async fn serve(listener: TcpListener) {
    let app = Arc::new(HttpServer::new_app(Site));
    // Never told to stop: it ends with the process.
    let (stop, shutdown) = watch::channel(false);
    while let Ok((tcp, _)) = listener.accept().await {
        let (app, shutdown) = (app.clone(), shutdown.clone());
        tokio::spawn(async move {
            let stream: Stream = Box::new(Connection::new(tcp));
            app.process_new(stream, &shutdown).await;
        });
    }
    drop(stop);
}
