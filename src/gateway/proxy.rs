//! pingora's proxy as we use it: what may pass goes to the origin, and comes back.
//!
//! Owns the phases of a request that is forwarded, a few lines each, and is the HTTP/2 door: a request that the
//! [gate](super::gate) has not seen is judged here, by the same [`Live::receive`].

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::server::ShutdownWatch;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorSource, ErrorType, Result};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::answer::{Response, with_date};
use super::api::{self, Streams};
use super::chaperone::{Progress, Watch, accompany, hurry};
use super::forward::{Forward, Order};
use super::front::{Outcome, REJOIN, Verdict, rejoin};
use super::head::{Client, Head, Peer};
use super::http1::Refused;
use super::intent::Intent;
use super::live::Live;
use super::origin::MAX_TRIES;
use super::show::{self, Reader};
use crate::line::Claimed;
use crate::page::Page;

/// How long a response waits for a renewal that is on its way: an exchange takes a few milliseconds. If it takes
/// longer the next request tries again.
const RENEWAL: Duration = Duration::from_millis(100);
/// How long a response waits for what its origin ordered.
const ORDER: Duration = Duration::from_secs(2);
/// A body of this size may take long enough to count as activity of its own.
const LONG_BODY: u64 = 1024 * 1024;
/// So does a response that has gone on for this long.
const LONG: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Ends an HTTP/2 request whose visitor's time is over: pingora has no place for it in such a session.
    pub(super) static WATCH: Arc<Watch>;
}

/// What a body is told that is over its bound.
const TOO_LARGE: &str = "This request has too long a body.\n";

/// What the gate hands on with a request.
pub enum Handed {
    /// To the origin.
    Forward(Box<Forward>),
    /// A call of the API, by this client.
    Call(String, Client),
}

/// The proxy.
pub struct Proxy {
    live: Arc<ArcSwap<Live>>,
    streams: Arc<Streams>,
    shutdown: ShutdownWatch,
}

/// One request's.
#[derive(Default)]
pub struct Ctx {
    handed: Option<Handed>,
    renewal: Option<oneshot::Receiver<Claimed>>,
    watch: Arc<Watch>,
    tries: usize,
    body_bytes: u64,
    /// When the response began; `None` once somebody stays with it.
    began: Option<Instant>,
    accompanied: bool,
    /// Of a body over HTTP/2.
    progress: Option<Arc<Progress>>,
}

impl Ctx {
    fn forward(&mut self) -> Option<&mut Forward> {
        match &mut self.handed {
            Some(Handed::Forward(forward)) => Some(forward),
            _ => None,
        }
    }

    /// Somebody stays with whoever stays long; one is enough.
    fn accompany(&mut self) {
        if std::mem::replace(&mut self.accompanied, true) {
            return;
        }
        let watch = self.watch.clone();
        if let Some(admission) = self.forward().and_then(|forward| forward.admission.as_ref()) {
            accompany(&admission.entrance, admission.proof, admission.admitted_ms, &watch);
        }
    }
}

impl Proxy {
    /// A proxy for what is in force.
    pub fn new(live: Arc<ArcSwap<Live>>, streams: Arc<Streams>, shutdown: ShutdownWatch) -> Proxy {
        Proxy { live, streams, shutdown }
    }

    /// Judges a request that came by HTTP/2. `None`: it was answered.
    async fn judge(&self, session: &mut Session) -> Result<Option<Handed>> {
        let live = self.live.load_full();
        let address = session.client_addr().and_then(|address| address.as_inet());
        let Some(address) = address.map(std::net::SocketAddr::ip) else {
            return Error::e_explain(ErrorType::InternalError, "a connection without an address");
        };
        let request = match Whole::of(session.req_header()) {
            Ok(request) => request,
            Err(Refused(status, why)) => {
                respond(session, &Response::plain(status, why)).await?;
                return Ok(None);
            }
        };
        let answer = match live.receive(&request, Peer { address, secure: true }) {
            Verdict::Answer(answer) => answer,
            Verdict::Forward(forward) => return Ok(Some(Handed::Forward(forward))),
            Verdict::Call(endpoint, client) => return Ok(Some(Handed::Call(endpoint, client))),
            Verdict::Ask(asking) => match asking.outcome().await {
                Outcome::Answer(answer) => answer,
                Outcome::Forward(forward) => return Ok(Some(Handed::Forward(forward))),
            },
            Verdict::Events(client) => match api::events(&live, &self.streams, &request, &client) {
                Err(answer) => answer,
                Ok(events) => {
                    tell(session, events, self.shutdown.clone()).await?;
                    return Ok(None);
                }
            },
        };
        respond(session, &answer).await?;
        Ok(None)
    }

    /// Reads a call's body and answers it.
    async fn call(&self, session: &mut Session, endpoint: &str, client: Client) -> Result<()> {
        let (request, expects) = match Whole::of(session.req_header()) {
            Ok(whole) => {
                let expects = whole.lists("expect", "100-continue");
                (api::Request::of(&self.live.load(), &whole), expects)
            }
            Err(Refused(status, why)) => {
                return respond(session, &Response::plain(status, why)).await;
            }
        };
        if expects {
            session.write_continue_response().await?;
        }
        let live = self.live.load_full();
        let body = match timeout(live.bounds.body_timeout, read_call(session)).await {
            Ok(body) => body?,
            Err(_) => {
                session.set_keepalive(None);
                let late = api::error(408, "timeout", "the body of this call took too long");
                return respond(session, &late).await;
            }
        };
        let Some(body) = body else {
            session.set_keepalive(None);
            return respond(session, &api::too_large()).await;
        };
        let answer = match endpoint {
            REJOIN => rejoin(&live, &request, &client, &body).await,
            _ => api::call(&live, request, client, endpoint, &body).await,
        };
        respond(session, &answer).await
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Ctx;

    fn new_ctx(&self) -> Ctx {
        Ctx { watch: WATCH.try_with(Arc::clone).unwrap_or_default(), ..Ctx::default() }
    }

    /// None: the one there is by default compresses, and we do not.
    fn init_downstream_modules(&self, _: &mut HttpModules) {}

    /// The gate's judgement comes with the request.
    fn on_connection_reuse(
        &self,
        _: &mut Session,
        ctx: &mut Ctx,
        with: Box<dyn Any + Send + Sync>,
    ) {
        if let Ok(handed) = with.downcast::<(Handed, Arc<Watch>)>() {
            let (handed, watch) = *handed;
            (ctx.handed, ctx.watch) = (Some(handed), watch);
        }
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
        // HTTP/2 knows no other deadline for a reader that does not read.
        session.set_write_timeout(Some(self.live.load().bounds.body_timeout));
        if ctx.handed.is_none() {
            ctx.handed = self.judge(session).await?;
        }
        match &ctx.handed {
            None => return Ok(true),
            Some(Handed::Call(endpoint, client)) => {
                let (endpoint, client) = (endpoint.clone(), *client);
                self.call(session, &endpoint, client).await?;
                return Ok(true);
            }
            Some(Handed::Forward(_)) => {}
        }
        let length = session.req_header().headers.get("content-length");
        let length: Option<u64> = length.and_then(|value| value.to_str().ok()?.parse().ok());
        if length > self.live.load().bounds.body_bytes.or(length) {
            session.set_keepalive(None);
            respond(session, &Response::plain(413, TOO_LARGE)).await?;
            return Ok(true);
        }
        let chunked = session.req_header().headers.contains_key("transfer-encoding");
        if chunked || length.is_some_and(|length| length > LONG_BODY) {
            ctx.accompany();
        }
        if session.req_header().version == http::Version::HTTP_2 && !session.is_body_empty() {
            let progress = ctx.progress.get_or_insert_default();
            hurry(progress, self.live.load().bounds.body_timeout, &ctx.watch);
        }
        start_renewal(ctx);
        Ok(false)
    }

    async fn request_body_filter(
        &self,
        _session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut Ctx,
    ) -> Result<()> {
        if let Some(progress) = &ctx.progress {
            progress.step(end);
        }
        ctx.body_bytes += body.as_ref().map_or(0, |part| part.len() as u64);
        let bound = self.live.load().bounds.body_bytes;
        if bound.is_some_and(|bound| ctx.body_bytes > bound) {
            return Error::e_explain(ErrorType::HTTPStatus(413), "the body is over its bound");
        }
        close_if_over(ctx)
    }

    async fn upstream_peer(&self, _: &mut Session, ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
        ctx.tries += 1;
        let peer = ctx.forward().and_then(|forward| forward.origin.next());
        let none = || Error::explain(ErrorType::HTTPStatus(502), "the origin has no server");
        peer.map(Box::new).ok_or_else(none)
    }

    async fn upstream_request_filter(
        &self,
        _session: &mut Session,
        request: &mut RequestHeader,
        ctx: &mut Ctx,
    ) -> Result<()> {
        // An absolute target is for proxies; behind us nobody is one.
        if request.uri.authority().is_some() || !request.raw_path().starts_with(b"/") {
            let path = request.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
            request.set_raw_path(path.as_bytes())?;
        }
        match ctx.forward() {
            Some(forward) => forward.dress(request),
            None => Ok(()),
        }
    }

    async fn response_filter(
        &self,
        _session: &mut Session,
        response: &mut ResponseHeader,
        ctx: &mut Ctx,
    ) -> Result<()> {
        let status = response.status.as_u16();
        if status < 200 && status != 101 {
            return Ok(());
        }
        let order = Order::of(response);
        let renewal = ctx.renewal.take();
        if let Some(admission) = ctx.forward().and_then(|forward| forward.admission.as_mut()) {
            match (order, renewal) {
                (Some(order), _) => _ = timeout(ORDER, admission.obey(order)).await,
                (None, Some(renewal)) => {
                    if let Ok(Ok(claimed)) = timeout(RENEWAL, renewal).await {
                        admission.renewed(claimed);
                    }
                }
                (None, None) => {}
            }
        }
        let kind = response.headers.get("content-type").map_or(&b""[..], |kind| kind.as_bytes());
        match status == 101 || kind.starts_with(b"text/event-stream") {
            true => ctx.accompany(),
            false => ctx.began = Some(Instant::now()),
        }
        match ctx.forward() {
            Some(forward) => forward.undress(response, order),
            None => Ok(()),
        }
    }

    fn response_body_filter(
        &self,
        _session: &mut Session,
        _body: &mut Option<Bytes>,
        _end: bool,
        ctx: &mut Ctx,
    ) -> Result<Option<Duration>> {
        if ctx.began.is_some_and(|began| began.elapsed() > LONG) {
            ctx.began = None;
            ctx.accompany();
        }
        close_if_over(ctx).map(|()| None)
    }

    /// Nothing was sent yet, so another server may be tried, whatever the method.
    fn fail_to_connect(
        &self,
        _: &mut Session,
        _: &HttpPeer,
        ctx: &mut Ctx,
        mut error: Box<Error>,
    ) -> Box<Error> {
        error.set_retry(ctx.tries < MAX_TRIES);
        error
    }

    /// What may have been done must not be done twice.
    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        ctx: &mut Ctx,
        reused: bool,
    ) -> Box<Error> {
        let mut error = error.more_context(format!("Peer: {peer}"));
        let again = session.req_header().method.is_idempotent()
            && !session.as_ref().retry_buffer_truncated()
            && ctx.tries < MAX_TRIES;
        match again {
            true => error.retry.decide_reuse(reused),
            false => error.set_retry(false),
        }
        error
    }

    async fn fail_to_proxy(
        &self,
        session: &mut Session,
        error: &Error,
        ctx: &mut Ctx,
    ) -> FailToProxy {
        let status = status_of(error);
        let untold = session.response_written().is_none();
        if status > 0 && untold {
            session.set_keepalive(None);
            let answer = self.explain(session, ctx, status);
            // The visitor may be gone.
            let _ = respond(session, &answer).await;
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    /// Visitors who leave are no errors of ours; a failing origin is one line.
    fn suppress_error_log(&self, _: &Session, _: &Ctx, error: &Error) -> bool {
        let hung_up = matches!(
            error.etype(),
            ErrorType::WriteError
                | ErrorType::WriteTimedout
                | ErrorType::ReadError
                | ErrorType::ReadTimedout
                | ErrorType::ConnectionClosed
        );
        match error.esource() {
            ErrorSource::Downstream => true,
            ErrorSource::Unset => hung_up,
            ErrorSource::Upstream | ErrorSource::Internal => false,
        }
    }

    /// Without the query: tickets come in it.
    fn request_summary(&self, session: &Session, _: &Ctx) -> String {
        let request = session.req_header();
        format!("{} {}", request.method, request.uri.path())
    }
}

impl Proxy {
    /// The page of an origin that fails. Whoever entered with this request gets their pass all the same.
    fn explain(&self, session: &Session, ctx: &mut Ctx, status: u16) -> Response {
        let live = self.live.load();
        let Ok(head) = Whole::of(session.req_header()) else {
            return Response::plain(400, "This is no request.\n");
        };
        let Some(forward) = ctx.forward() else { return Response::plain(status, "") };
        let intent = Intent::of(head.method(), |name| head.get(name));
        let reader = Reader::of(&head, intent, forward.client);
        let admission = forward.admission.as_ref();
        let pages = admission.map_or(&live.pages, |admission| &admission.entrance.pages);
        let to = reader.to.as_str();
        let (page, said) = match status {
            504 => (Page::OriginSlow { to }, "The site takes too long to answer.\n"),
            _ => (Page::OriginDown { to }, "The site can't be reached.\n"),
        };
        let answer = match (status, reader.form) {
            (502..=504, show::Form::Html) => show::html(pages, &reader, status, &page),
            (502..=504, show::Form::Json) => api::error(status, "origin_unavailable", said),
            (502..=504, show::Form::Plain) => Response::plain(status, said),
            (413, _) => Response::plain(413, TOO_LARGE),
            _ => Response::plain(status, "This request could not be served.\n"),
        };
        match admission.filter(|admission| admission.hand_out) {
            Some(admission) => {
                let (name, value) = admission.keep(forward.client.secure);
                answer.with(name, value)
            }
            None => answer,
        }
    }
}

fn status_of(error: &Error) -> u16 {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (
            ErrorType::ConnectTimedout
            | ErrorType::ReadTimedout
            | ErrorType::WriteTimedout
            | ErrorType::TLSHandshakeTimedout,
            ErrorSource::Upstream,
        ) => 504,
        (_, ErrorSource::Upstream) => 502,
        (
            ErrorType::WriteError
            | ErrorType::ReadError
            | ErrorType::ConnectionClosed
            | ErrorType::WriteTimedout,
            ErrorSource::Downstream,
        ) => 0,
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Downstream) => 400,
        (_, ErrorSource::Internal | ErrorSource::Unset) => 500,
    }
}

/// The body of a call; `None` if it is too long.
async fn read_call(session: &mut Session) -> Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(part) = session.read_request_body().await? {
        body.extend_from_slice(&part);
        if body.len() > api::MAX_BODY {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// A session whose time is over ends with the next thing said.
fn close_if_over(ctx: &Ctx) -> Result<()> {
    match ctx.watch.is_closed() {
        true => Error::e_explain(ErrorType::ConnectionClosed, "the session is over"),
        false => Ok(()),
    }
}

/// The seat is renewed while the origin works.
fn start_renewal(ctx: &mut Ctx) {
    let Some(forward) = ctx.forward() else { return };
    let Some(admission) = forward.admission.as_ref().filter(|admission| admission.renew) else {
        return;
    };
    let (entrance, proof) = (admission.entrance.clone(), admission.proof);
    let admitted_ms = admission.admitted_ms;
    let (answer, renewal) = oneshot::channel();
    tokio::spawn(async move {
        if let Ok(claimed) = entrance.room.renew(proof, admitted_ms).await {
            // The response may have gone without it.
            let _ = answer.send(claimed);
        }
    });
    ctx.renewal = Some(renewal);
}

/// An answer of ours through pingora.
async fn respond(session: &mut Session, answer: &Response) -> Result<()> {
    let head_only = session.req_header().method == "HEAD";
    let mut header = ResponseHeader::build(answer.status, Some(answer.headers.len() + 2))?;
    with_date(|date| header.insert_header("Date", date))?;
    for (name, value) in &answer.headers {
        header.append_header(*name, value.as_ref())?;
    }
    if !matches!(answer.status, 204 | 304) {
        header.insert_header("Content-Length", answer.body.len())?;
    }
    let empty = head_only || answer.body.is_empty();
    session.write_response_header(Box::new(header), empty).await?;
    if !empty {
        let body = Bytes::copy_from_slice(&answer.body);
        session.write_response_body(Some(body), true).await?;
    }
    Ok(())
}

/// Tells of a place for as long as somebody listens.
async fn tell(
    session: &mut Session,
    mut events: api::Events,
    mut shutdown: ShutdownWatch,
) -> Result<()> {
    let answer = api::Events::response_headers();
    let mut header = ResponseHeader::build(answer.status, Some(answer.headers.len() + 1))?;
    with_date(|date| header.insert_header("Date", date))?;
    for (name, value) in &answer.headers {
        header.append_header(*name, value.as_ref())?;
    }
    session.write_response_header(Box::new(header), false).await?;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = session.as_downstream_mut().read_body_or_idle(true) => return Ok(()),
            _ = shutdown.wait_for(|stopping| *stopping) => None,
        };
        let Some(event) = event else { break };
        session.write_response_body(Some(event.into()), false).await?;
    }
    session.write_response_body(None, true).await
}

/// A head as pingora shows it.
struct Whole<'a> {
    header: &'a RequestHeader,
    target: &'a str,
    host: &'a str,
}

impl<'a> Whole<'a> {
    /// # Errors
    /// What is wrong with it.
    fn of(header: &'a RequestHeader) -> std::result::Result<Whole<'a>, Refused> {
        let target = header.uri.path_and_query().map_or("/", |target| target.as_str());
        if !target.starts_with('/') {
            return Err(Refused(400, "A target is a path or an address.\n"));
        }
        if matches!(header.method.as_str(), "CONNECT" | "TRACE") {
            return Err(Refused(405, "This method is not served.\n"));
        }
        let mut hosts = header.headers.get_all("host").iter();
        let named = match (hosts.next(), hosts.next()) {
            (Some(host), None) => Some(host.to_str().map_err(|_| Refused(400, "No such host.\n"))?),
            (None, _) => None,
            (Some(_), Some(_)) => return Err(Refused(400, "A request has one Host.\n")),
        };
        let host = match (header.uri.authority().map(|host| host.as_str()), named) {
            (Some(host), Some(other)) if !host.eq_ignore_ascii_case(other) => {
                return Err(Refused(400, "Target and Host differ.\n"));
            }
            (Some(host), _) | (None, Some(host)) => host,
            (None, None) if header.version == http::Version::HTTP_10 => "",
            (None, None) => return Err(Refused(400, "A request needs a Host.\n")),
        };
        if host.contains('@') {
            return Err(Refused(400, "No such host.\n"));
        }
        Ok(Whole { header, target, host })
    }
}

impl Head for Whole<'_> {
    fn method(&self) -> &str {
        self.header.method.as_str()
    }
    fn target(&self) -> &str {
        self.target
    }
    fn host(&self) -> &str {
        self.host
    }
    fn all<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'n [u8]> {
        self.header.headers.get_all(name).iter().map(|value| value.as_bytes().trim_ascii())
    }
}
