//! pingora's proxy as we use it: what may pass goes to the origin, and comes back.
//!
//! Owns the phases of a request that is forwarded, a few lines each, and is the HTTP/2 door: a request that the
//! [gate](super::gate) has not seen is judged here, by the same [`Live::receive`].

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use http::{Version, header};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::server::ShutdownWatch;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorSource, ErrorType, Result};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::access::Note;
use super::answer::{Response, with_date};
use super::api::{self, Streams};
use super::asking::Outcome;
use super::chaperone::{Connected, Progress, Watch, hurry};
use super::forward::{Asked, Forward, Order, TOO_LARGE, unsay};
use super::front::{JOIN, REJOIN, Verdict, rejoin};
use super::head::{Client, Head, Peer};
use super::http1::{self, Refused};
use super::live::Live;
use super::naming::join_by_name;
use super::origin::MAX_TRIES;
use super::patient::Agreed;
use crate::line::Claimed;
use crate::metrics::Failed;

/// How long a response waits for a renewal that is on its way: an exchange takes a few milliseconds. If it takes
/// longer the next request tries again.
const RENEWAL: Duration = Duration::from_millis(100);
/// The kind of a response that goes on for as long as somebody listens.
const EVENTS: &[u8] = b"text/event-stream";

tokio::task_local! {
    /// Ends an HTTP/2 request whose visitor's time is over: pingora has no place for it in such a session.
    pub(super) static WATCH: Arc<Watch>;
}

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
    /// Of every request that came through a door.
    watch: Option<Arc<Watch>>,
    tries: usize,
    /// Of a request that is to become something else.
    agreed: Option<Agreed>,
    /// When a server was last chosen, until it answers.
    asked: Option<Asked>,
    body_bytes: u64,
    /// Of a body over HTTP/2.
    progress: Option<Arc<Progress>>,
    /// Where requests are told of.
    note: Option<Note>,
    /// Of a connection that stays open.
    connected: Option<Connected>,
}

impl Ctx {
    fn forward(&mut self) -> Option<&mut Forward> {
        match &mut self.handed {
            Some(Handed::Forward(forward)) => Some(forward),
            _ => None,
        }
    }

    /// This is a connection that stays open.
    fn connect(&mut self) {
        let admission = self.forward().and_then(|forward| forward.admission.as_ref());
        self.connected =
            admission.and_then(|admission| Connected::new(&admission.entrance, admission.proof));
    }

    /// Whose request it is, for whoever serves it.
    fn introduce(&self) {
        if let (Some(watch), Some(Handed::Forward(forward))) = (&self.watch, &self.handed)
            && let Some(admission) = &forward.admission
        {
            watch.introduce(admission);
        }
    }
}

impl Proxy {
    /// A proxy for what is in force.
    pub fn new(live: Arc<ArcSwap<Live>>, streams: Arc<Streams>, shutdown: ShutdownWatch) -> Proxy {
        Proxy { live, streams, shutdown }
    }

    /// Judges a request that came by HTTP/2. `None`: it was answered.
    async fn judge(
        &self,
        session: &mut Session,
        note: &mut Option<Note>,
    ) -> Result<Option<Handed>> {
        let live = self.live.load_full();
        // HTTP/2 knows no other deadline for a reader that does not read.
        session.set_write_timeout(Some(live.bounds.body_timeout));
        let address = session.client_addr().and_then(|address| address.as_inet());
        let Some(address) = address.map(std::net::SocketAddr::ip) else {
            return Error::e_explain(ErrorType::InternalError, "a connection without an address");
        };
        let head = Whole::of(session.req_header());
        let request = match head.and_then(|head| head.within(live.bounds.header_lines)) {
            Ok(request) => request,
            Err(Refused(status, why)) => {
                live.access.unreadable(status);
                respond(session, &Response::plain(status, why)).await?;
                return Ok(None);
            }
        };
        let verdict = live.receive(&request, Peer { address, secure: true });
        *note = live.access.note(&request);
        if let Some(note) = note {
            note.judged(&live, &request, &verdict);
        }
        let answer = match verdict {
            Verdict::Answer(answer) => answer,
            Verdict::Forward(forward) => return Ok(Some(Handed::Forward(forward))),
            Verdict::Call(endpoint, client) => return Ok(Some(Handed::Call(endpoint, client))),
            Verdict::Ask(asking) => {
                let outcome = asking.outcome().await;
                if let Some(note) = note {
                    note.decided(&outcome);
                }
                match outcome {
                    Outcome::Answer(answer) => answer,
                    Outcome::Forward(forward) => return Ok(Some(Handed::Forward(forward))),
                }
            }
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
            JOIN => join_by_name(&live, &request, &client, &body).await,
            _ => api::call(&live, request, client, endpoint, &body).await,
        };
        respond(session, &answer).await
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Ctx;

    fn new_ctx(&self) -> Ctx {
        Ctx { watch: WATCH.try_with(Arc::clone).ok(), ..Ctx::default() }
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
        if let Ok(handed) = with.downcast::<(Handed, Arc<Watch>, Option<Note>)>() {
            let (handed, watch, note) = *handed;
            (ctx.handed, ctx.watch, ctx.note) = (Some(handed), Some(watch), note);
        }
    }

    // What is rare is in a box of its own here and below: the box of a phase is as large as the largest thing it may have
    // to wait for, and is made for every request.
    async fn request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
        if ctx.handed.is_none() {
            ctx.handed = Box::pin(self.judge(session, &mut ctx.note)).await?;
        }
        match &mut ctx.handed {
            None => return Ok(true),
            Some(Handed::Call(endpoint, client)) => {
                let (endpoint, client) = (std::mem::take(endpoint), *client);
                Box::pin(self.call(session, &endpoint, client)).await?;
                return Ok(true);
            }
            Some(Handed::Forward(forward)) => forward.strip(session.req_header_mut()),
        }
        if !session.is_body_empty() && !self.admit_body(session, ctx) {
            session.set_keepalive(None);
            Box::pin(respond(session, &Response::plain(413, TOO_LARGE))).await?;
            return Ok(true);
        }
        ctx.introduce();
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
        if let Some(part) = body {
            ctx.body_bytes += part.len() as u64;
            let bound = self.live.load().bounds.body_bytes;
            if bound.is_some_and(|bound| ctx.body_bytes > bound) {
                return Error::e_explain(ErrorType::HTTPStatus(413), "the body is over its bound");
            }
        }
        close_if_over(ctx)
    }

    async fn upstream_peer(&self, session: &mut Session, ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
        ctx.tries += 1;
        ctx.asked = ctx.forward().map(|forward| forward.ask());
        let upgrades = session.is_upgrade_req();
        let agreed = upgrades.then(|| ctx.agreed.get_or_insert_default().clone());
        let peer = ctx.forward().and_then(|forward| match agreed {
            Some(agreed) => forward.origin.next_for_upgrade(agreed),
            None => forward.origin.next(),
        });
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
        session: &mut Session,
        response: &mut ResponseHeader,
        ctx: &mut Ctx,
    ) -> Result<()> {
        let status = response.status.as_u16();
        if status < 200 && status != 101 {
            unsay(response);
            return Ok(());
        }
        if status == 101 {
            // From now on nobody is waited for.
            ctx.agreed.iter().for_each(Agreed::set);
            session.set_read_timeout(None);
        }
        let asked = ctx.asked.take();
        if let (Some(asked), Some(forward)) = (asked, ctx.forward()) {
            forward.origin_answered(status, asked);
        }
        let order = Order::of(response);
        let renewal = ctx.renewal.take();
        if order.is_some() || renewal.is_some() {
            Box::pin(settle(ctx, order, renewal)).await;
        }
        let kind = response.headers.get(header::CONTENT_TYPE);
        if status == 101 || kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS)) {
            ctx.connect();
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
        if let Some(failed) = failed_by(error)
            && let Some(forward) = ctx.forward()
        {
            forward.origin_failed(failed);
        }
        let untold = session.response_written().is_none();
        if status > 0 && untold {
            session.set_keepalive(None);
            let head = Whole::of(session.req_header());
            let answer = match (head, ctx.forward()) {
                (Ok(head), Some(forward)) => forward.explain(&self.live.load(), &head, status),
                _ => Response::plain(status, ""),
            };
            // The visitor may be gone.
            let _ = respond(session, &answer).await;
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, ctx: &mut Ctx) {
        if let Some(note) = &mut ctx.note {
            let written = session.response_written();
            let status = written.map_or(0, |response| response.status.as_u16());
            note.answered(status, session.body_bytes_sent() as u64);
        }
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
    /// Whether a request's body may come, as far as its head says; one that may take long is watched.
    fn admit_body(&self, session: &Session, ctx: &mut Ctx) -> bool {
        let request = session.req_header();
        let bounds = self.live.load().bounds;
        let length = request.headers.get(header::CONTENT_LENGTH);
        let length: Option<u64> = length.and_then(|value| value.to_str().ok()?.parse().ok());
        if length > bounds.body_bytes.or(length) {
            return false;
        }
        if request.version == Version::HTTP_2
            && let Some(watch) = &ctx.watch
        {
            hurry(ctx.progress.get_or_insert_default(), bounds.body_timeout, watch);
        }
        true
    }
}

/// How an origin failed, if it was the origin.
fn failed_by(error: &Error) -> Option<Failed> {
    if *error.esource() != ErrorSource::Upstream {
        return None;
    }
    if is_late(error) {
        return Some(Failed::Timeout);
    }
    Some(match error.etype() {
        ErrorType::ConnectTimedout
        | ErrorType::ReadTimedout
        | ErrorType::WriteTimedout
        | ErrorType::TLSHandshakeTimedout => Failed::Timeout,
        ErrorType::ConnectRefused
        | ErrorType::ConnectNoRoute
        | ErrorType::ConnectError
        | ErrorType::TLSHandshakeFailure => Failed::Connect,
        _ => Failed::Other,
    })
}

/// Whether an origin took too long for a connection of ours.
fn is_late(error: &Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

fn status_of(error: &Error) -> u16 {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (_, ErrorSource::Upstream) if is_late(error) => 504,
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
    // Whoever stops in the middle may be noticed by pingora first.
    while let Some(part) = session.read_request_body().await.map_err(|error| error.into_down())? {
        body.extend_from_slice(&part);
        if body.len() > api::MAX_BODY {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// Waits for what the origin ordered, or else for the renewal that is on its way.
async fn settle(ctx: &mut Ctx, order: Option<Order>, renewal: Option<oneshot::Receiver<Claimed>>) {
    let admission = ctx.forward().and_then(|forward| forward.admission.as_mut());
    let Some(admission) = admission else { return };
    match (order, renewal) {
        (Some(order), _) => admission.obey_in_time(order).await,
        (None, Some(renewal)) => {
            if let Ok(Ok(claimed)) = timeout(RENEWAL, renewal).await {
                admission.renewed(claimed);
            }
        }
        (None, None) => {}
    }
}

/// A session whose time is over ends with the next thing said.
fn close_if_over(ctx: &Ctx) -> Result<()> {
    match ctx.watch.as_ref().is_some_and(|watch| watch.is_closed()) {
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
    let sitting = admission.sitting();
    let (answer, renewal) = oneshot::channel();
    tokio::spawn(async move {
        if let Ok(claimed) = entrance.room.renew(proof, sitting).await {
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
    /// Judged as the [gate](super::gate) judges its own.
    ///
    /// # Errors
    /// What is wrong with it.
    fn of(header: &'a RequestHeader) -> std::result::Result<Whole<'a>, Refused> {
        if matches!(header.method.as_str(), "CONNECT" | "TRACE") {
            return Err(Refused(405, "This method is not served.\n"));
        }
        let target = header.uri.path_and_query().map_or("/", |target| target.as_str());
        http1::plain_target(target)?;
        if !target.starts_with('/') {
            return Err(Refused(400, "A target is a path or an address.\n"));
        }
        let lines = header.headers.get_all("host").iter().map(|host| host.as_bytes().trim_ascii());
        let authority = header.uri.authority().map(|authority| authority.as_str());
        let host = http1::one_host(lines, authority, header.version)?;
        http1::expectation(header.headers.get("expect").map(|value| value.as_bytes()))?;
        Ok(Whole { header, target, host })
    }

    /// # Errors
    /// It has more lines than this. All cookies are one: a browser sends each on a line of its own (RFC 9113, 8.2.3).
    fn within(self, max_lines: usize) -> std::result::Result<Whole<'a>, Refused> {
        let cookies = self.header.headers.get_all("cookie").iter().count();
        match self.header.headers.len() - cookies.saturating_sub(1) > max_lines {
            true => Err(Refused(431, "Too many header lines.\n")),
            false => Ok(self),
        }
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
