// Anteroom's client: a place in a line, for scripts and for the waiting page.
//
//   import { QueueClient, QueueState } from '/.anteroom/client.js';
//
// No dependencies, no build step, no globals needed: it runs in browsers and in Node. In a page whose
// body says data-anteroom-room it also keeps that page current. docs/clients.md shows both.

export const QueueState = Object.freeze({
  joining: 'joining', waiting: 'waiting', admitted: 'admitted', expired: 'expired', error: 'error',
});

// What the wire says, and which of the five states it is.
const STATES = {
  waiting: 'waiting', away: 'waiting', provisional: 'waiting', admitted: 'admitted', active: 'admitted',
  completed: 'expired', expired: 'expired',
};

// Seconds between tries where the server gives no pace; milliseconds after which an answer is late, and
// between two questions at least.
const BACKOFF = [5, 10, 30];
const TIMEOUT = 15000;
const RUSH = 2000;

// Up to half as much again: a crowd that was cut off at once must not come back at once.
const spread = seconds => seconds * (1 + Math.random() / 2);
const backoff = (failures, error) => spread(error.retryAfter || BACKOFF[Math.min(failures, 3) - 1]);
const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000));

// The server's clock minus ours: tokens end by the server's.
let skew;
const serverNow = () => Date.now() + (skew || 0);

const memory = new Map();
const storage = {
  get(key) { try { return localStorage.getItem(key); } catch { return memory.get(key); } },
  set(key, value) { memory.set(key, value); try { localStorage.setItem(key, value); } catch { /* kept above */ } },
};

// An answer that is none: `status` of HTTP, `code` and `reason` of the body, `retryAfter` in seconds.
export class QueueError extends Error {
  constructor(response, { error = {}, reason }) {
    super(error.message || `HTTP ${response.status}`);
    const retryAfter = Number(response.headers.get('retry-after')) || 0;
    Object.assign(this, { name: 'QueueError', status: response.status, code: error.code, reason, retryAfter });
  }
}

export class AdmissionToken {
  constructor(token, eventId, expiresAt) {
    Object.assign(this, { token, eventId, expiresAt: new Date(expiresAt) });
  }

  isValid() { return this.expiresAt > serverNow(); }

  // For after a restart: QueueClient.restoreToken finds it.
  async save() { storage.set(`anteroom.token.${this.eventId}`, JSON.stringify({ ...this, skew })); }
}

export class QueueStatus {
  constructor(answer, last) {
    Object.assign(this, last);
    const known = {
      queueId: answer.queue_id, queueRef: answer.queue_ref, eventId: answer.event_id, status: answer.status,
      position: answer.position, positionLabel: answer.position_label, class: answer.class, waiting: answer.waiting,
      estimatedWaitSeconds: answer.estimated_wait_seconds, eta: answer.eta, paused: answer.paused,
      message: answer.message, rosterVersion: answer.roster_version, claimWindowSeconds: answer.claim_window_seconds, reason: answer.reason,
      nextPollSeconds: answer.next_poll_seconds || answer.next_heartbeat_seconds,
      enqueuedAt: answer.enqueued_at && new Date(answer.enqueued_at), phase: answer.phase, draw: answer.draw,
      opensAt: answer.opens_at && new Date(answer.opens_at), closesAt: answer.closes_at && new Date(answer.closes_at),
      opensSpreadSeconds: answer.opens_spread_seconds,
    };
    for (const name in known) if (known[name] !== undefined) this[name] = known[name];
    this.state = STATES[answer.status] || QueueState.error;
    this.admissionToken = answer.token ? new AdmissionToken(answer.token, this.eventId, answer.expires_at) : null;
    this.error = null;
  }

  // Before there is a place.
  static joining(eventId) {
    return Object.assign(Object.create(QueueStatus.prototype), { eventId, state: QueueState.joining, admissionToken: null, error: null });
  }

  // What is known after a failure: the last place, and why there is no newer one.
  static failed(error, last) {
    const over = error.status === 410 || error.status === 404 || error.code === 'missing_ticket';
    const state = over ? QueueState.expired : QueueState.error;
    const reason = error.reason || (over ? 'unknown' : undefined);
    return Object.assign(Object.create(QueueStatus.prototype), last, { state, reason, error, admissionToken: null });
  }
}

// Asks for a status again and again. Both an async iterable and something to listen to.
class StatusStream {
  constructor(client, key, query, interval, delay) {
    Object.assign(this, { client, key, query, interval, delay, listeners: new Set(), failures: 0, asked: 0, held: 0, last: null, done: false });
    this.wake = () => {
      if (!globalThis.document?.hidden && Date.now() >= Math.max(this.asked + RUSH, this.held)) this.ask();
    };
  }

  listen(listener) {
    this.listeners.add(listener);
    if (this.listeners.size === 1 && !this.done) this.start();
    return { cancel: () => { if (this.listeners.delete(listener) && !this.listeners.size) this.stop(); } };
  }

  async *[Symbol.asyncIterator]() {
    const ready = [];
    let wake;
    const subscription = this.listen(status => { ready.push(status); if (wake) wake(); });
    try {
      for (;;) {
        while (ready.length) yield ready.shift();
        if (this.done) return;
        await new Promise(resolve => { wake = resolve; });
      }
    } finally { subscription.cancel(); }
  }

  start() {
    this.asked = Date.now();
    this.timer = setTimeout(() => this.ask(), this.delay);
    // Timers sleep with the machine and crawl in a hidden tab: whoever comes back asks at once.
    for (const event of ['visibilitychange', 'online', 'pageshow', 'focus']) globalThis.addEventListener?.(event, this.wake);
  }

  stop() {
    this.done = true;
    clearTimeout(this.timer);
    for (const event of ['visibilitychange', 'online', 'pageshow', 'focus']) globalThis.removeEventListener?.(event, this.wake);
    this.client.streams.delete(this.key);
  }

  async ask() {
    if (this.done || this.asking) return;
    clearTimeout(this.timer);
    this.asking = true;
    this.asked = Date.now();
    let status, pause;
    try {
      status = new QueueStatus(await this.client.request('GET', '/queue/status', { query: this.query }), this.last);
      // An arrival became a place: from now on it is asked about by its ticket.
      if (this.query.queue_id && status.queueId) this.query.queue_id = status.queueId;
      this.failures = 0;
      pause = status.nextPollSeconds || this.interval / 1000;
      // The opening wakes everybody, but not all at once.
      if (status.opensAt) {
        const left = (status.opensAt - serverNow()) / 1000 + Math.random() * (status.opensSpreadSeconds || 2);
        pause = Math.min(pause, Math.max(left, 1));
      }
    } catch (error) {
      status = QueueStatus.failed(error, this.last);
      this.failures += 1;
      status.retrySeconds = pause = backoff(this.failures, error);
      if (error.status === 429) this.held = Date.now() + pause * 1000;
    }
    this.asking = false;
    if (this.done) return;
    this.last = status;
    if (status.state === QueueState.admitted || status.state === QueueState.expired) this.stop();
    else this.timer = setTimeout(() => this.ask(), pause * 1000);
    for (const listener of [...this.listeners]) listener(status);
  }
}

export class QueueClient {
  // One for the whole program; `new QueueClient(…)` makes others.
  static async initialize(options) { return (QueueClient.shared = new QueueClient(options)); }

  static get instance() {
    if (!QueueClient.shared) throw new Error('QueueClient.initialize comes first');
    return QueueClient.shared;
  }

  constructor({ baseUrl = '/.anteroom/v1', deviceId, userId, headers } = {}) {
    Object.assign(this, { baseUrl: baseUrl.replace(/\/+$/, ''), deviceId, userId, headers, streams: new Map() });
  }

  // Takes a place, or finds the one this device has: safe to repeat, and repeated here if the network fails. `onStatus` hears
  // of it meanwhile: joining, error before each other try, and what is returned in the end.
  async joinEvent({ eventId, priorityBucket, metadata, name, invite, onStatus = () => {} }) {
    const known = `anteroom.key.${eventId}.${this.deviceId}`;
    let key = storage.get(known);
    if (!key) storage.set(known, key = globalThis.crypto?.randomUUID?.() || `${Math.random()}${Math.random()}`);
    const body = {
      event_id: eventId, device_id: this.deviceId, user_id: this.userId, priority_bucket: priorityBucket, metadata, name, invite,
    };
    onStatus(QueueStatus.joining(eventId));
    let answer;
    for (let failures = 1; !answer; failures += 1) {
      try {
        answer = await this.request('POST', '/queue/join', { body, headers: { 'Idempotency-Key': key } });
      } catch (error) {
        const passing = !error.status || error.status === 429 || error.status === 503;
        if (!passing || failures > BACKOFF.length) throw error;
        const retrySeconds = backoff(failures, error);
        onStatus(Object.assign(QueueStatus.failed(error, { eventId }), { retrySeconds }));
        await sleep(retrySeconds);
      }
    }
    const status = new QueueStatus(answer, { eventId });
    onStatus(status);
    return status;
  }

  // `pollInterval` (milliseconds) counts where the server gives no pace. Ends with admitted or expired. With
  // `eventId` instead of `queueId` the cookie says whose place it is.
  listenStatus({ queueId, eventId, pollInterval = 5000, delay = 0 }) {
    const query = queueId ? { queue_id: queueId } : { event_id: eventId };
    const key = queueId || eventId;
    let stream = this.streams.get(key);
    if (!stream) this.streams.set(key, stream = new StatusStream(this, key, query, pollInterval, delay));
    return stream;
  }

  // The token once it is there; null if the place was lost.
  async onAdmitted({ queueId }) {
    for await (const status of this.listenStatus({ queueId })) {
      if (status.state === QueueState.admitted) return status.admissionToken;
    }
    return null;
  }

  async sendHeartbeat({ queueId }) {
    return new QueueStatus(await this.request('POST', '/queue/heartbeat', { body: { queue_id: queueId } }));
  }

  async leave({ queueId }) { await this.request('POST', '/queue/leave', { body: { queue_id: queueId } }); }

  // What save() kept, if it is still good.
  async restoreToken({ eventId }) {
    let saved;
    try { saved = JSON.parse(storage.get(`anteroom.token.${eventId}`)); } catch { /* as if there were none */ }
    if (!saved?.token) return null;
    if (skew === undefined && Number.isFinite(saved.skew)) skew = saved.skew;
    const token = new AdmissionToken(saved.token, eventId, saved.expiresAt);
    return token.isValid() ? token : null;
  }

  async request(method, path, { query, body, headers }) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT);
    try {
      const response = await fetch(this.baseUrl + path + (query ? `?${new URLSearchParams(query)}` : ''), {
        method, signal: abort.signal, credentials: 'same-origin', cache: 'no-store', body: body && JSON.stringify(body),
        headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }), ...headers, ...this.headers },
      });
      const answer = await response.json().catch(() => ({}));
      if (answer.server_time) skew = Date.parse(answer.server_time) - Date.now();
      // 409: already in the line, and this is the place. Provisional: there is no line to be asked, but a time of arrival.
      const placed = answer.status === 'provisional' || response.status === 409;
      if (response.ok ? answer.status || method === 'POST' : placed && answer.queue_id) return answer;
      throw new QueueError(response, answer);
    } finally { clearTimeout(timer); }
  }
}

const fill = (pattern, text) => pattern.replace('{}', () => text);

// "1,523" and "4–6 minutes" as the language has it; `words` comes with the page, so both sides read alike.
export function formatNumber(words, number) {
  const digits = String(number);
  return digits.length < 3 + words.groupFrom ? digits : digits.replace(/\B(?=(...)+$)/g, words.group);
}

function counted(words, forms, low, high) {
  let form = new Intl.PluralRules(words.numbers).select(high);
  if (low < high && form === 'two') form = 'other';
  const text = (low < high ? formatNumber(words, low) + words.range : '') + formatNumber(words, high);
  return fill(forms[form] || forms.other, text);
}

// The estimate, rounded outwards as the server does it (src/page/number.rs).
export function formatEta(words, { low, high }) {
  const minutes = Math.ceil(high / 60);
  if (minutes <= 1) return words.soon;
  if (minutes > 120) {
    return fill(words.about, counted(words, words.h, Math.max(Math.floor(low / 3600), 1), Math.ceil(high / 3600)));
  }
  const step = minutes <= 20 ? 1 : minutes <= 60 ? 5 : 10;
  const from = Math.floor(low / 60 / step) * step || Math.max(Math.floor(low / 60), 1);
  return fill(words.about, counted(words, words.m, from, Math.ceil(minutes / step) * step));
}

// When something is tried again: the nearer, the finer.
export function formatAgain(words, left) {
  const [forms, number] = left <= 60 ? [words.s, left] : left <= 7200 ? [words.m, Math.ceil(left / 60)] : [words.h, Math.ceil(left / 3600)];
  return fill(words.again, counted(words, forms, number, number));
}

// What is left, as "12:34" or "1:02:03".
export function formatClock(left) {
  const two = number => String(number).padStart(2, '0');
  const hours = Math.floor(left / 3600);
  const rest = `${hours ? two(Math.floor(left / 60) % 60) : Math.floor(left / 60)}:${two(left % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

function runPage(body) {
  const { anteroomRoom: eventId, anteroomTitle: title = document.title } = body.dataset;
  const first = new Set(body.dataset.anteroomState.split(' '));
  const poll = Number(body.dataset.anteroomPoll);
  const words = JSON.parse(document.getElementById('anteroom-words').textContent);
  const path = location.pathname + location.search;
  const elements = name => document.querySelectorAll(`[data-anteroom="${name}"]`);
  const write = (name, text) => elements(name).forEach(element => { if (element.textContent !== text) element.textContent = text; });
  const has = state => document.querySelector(`[data-anteroom-show="${state}"]`);
  // By GET, whatever the page was the answer to. An address with a fragment would only scroll.
  const go = () => (location.hash && !first.has('unsent') ? location.reload() : location.replace(location.origin + path));

  const show = (state, ...more) => {
    const before = body.dataset.anteroomState.split(' ')[0];
    const kept = ['unsent', 'draw', 'classed'].filter(word => first.has(word));
    body.dataset.anteroomState = [state, ...more, ...kept].filter(Boolean).join(' ');
    if (state !== before) has(state)?.querySelector('h1')?.focus();
  };

  // What nobody knows.
  const unknown = '–';

  // Screen readers hear of a change of state at once, of a new position once a minute.
  let announced = Date.now();
  const announce = (text, every = 0) => {
    if (Date.now() - announced < every) return;
    announced = Date.now();
    write('announce', text);
  };

  let ticking;
  const countdown = (seconds, tick) => {
    clearInterval(ticking);
    const end = Date.now() + seconds * 1000;
    const step = () => tick(Math.max(0, Math.ceil((end - Date.now()) / 1000)));
    ticking = setInterval(step, 1000);
    step();
  };
  const again = left => write('again', formatAgain(words, left));
  const opens = left => fill(words.opens, formatClock(left));
  const opening = left => countdown(left, seconds => write('eta', opens(seconds)));

  const admitted = (window, pause) => {
    show('admitted');
    document.title = `✓ ${words.admitted} · ${title}`;
    write('status', words.admitted);
    announce(words.admitted);
    setTimeout(go, pause * 1000);
    if (window) countdown(window, left => write('window', fill(words.window, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`)));
  };

  const updated = () => write('updated', fill(words.updated, new Date().toLocaleTimeString(words.numbers)));

  // Who plays and who waits, by name: a script of its own, for rooms whose visitors have names.
  let listed;
  const roster = ({ rosterVersion, positionLabel }) => {
    if (rosterVersion === listed) return;
    listed = rosterVersion;
    import('/.anteroom/roster.js').then(page => page.show(eventId, positionLabel)).catch(() => {});
  };

  const waiting = status => {
    roster(status);
    // The cookie came back: if it is gone later, somebody left the line.
    first.delete('fresh');
    const { position, eta, estimatedWaitSeconds: wait } = status;
    const { opensAt } = status;
    const before = status.phase === 'prequeue';
    const paused = status.paused && !before;
    // Before a draw nobody has a place.
    const number = before && status.draw ? unknown : formatNumber(words, position);
    const left = Math.max(0, Math.ceil((opensAt - serverNow()) / 1000));
    const estimate = opensAt ? opens(left) : eta ? formatEta(words, eta) : paused ? words.pausedShort : unknown;
    const waited = (serverNow() - status.enqueuedAt) / 1000;
    if (position) {
      write('position', number);
      document.title = `#${number} · ${title}`;
      announce(`${words.position}: ${number}. ${words.wait}: ${estimate}`, 60000);
    }
    if (status.waiting !== undefined) write('waiting', formatNumber(words, status.waiting));
    if (opensAt) opening(left);
    else clearInterval(ticking);
    write('eta', estimate);
    write('label', status.positionLabel || '');
    if (status.class && first.has('classed')) write('class', status.class);
    write('status', words.waiting);
    if (status.message !== undefined) write('message', status.message ?? '');
    updated();
    elements('progress').forEach(element => { if (waited >= 0) element.value = 1000 * waited / (waited + wait || 1); });
    show('waiting', 'live', paused ? 'paused' : '');
  };

  const expired = ({ reason, error }) => {
    // The cookie never came back: the server tells whether it is kept at all.
    if (error?.code === 'missing_ticket' && first.has('fresh')) return location.replace(`/.anteroom/continue?to=${encodeURIComponent(path)}`);
    if (!has('expired')) return go();
    const [heading, text] = words.reasons[reason] || words.reasons.unknown;
    write('reason-title', heading);
    write('reason', text);
    write('status', heading);
    document.title = `${heading} · ${title}`;
    show('expired');
    announce(`${heading}. ${text}`);
  };

  const failed = ({ error, retrySeconds }) => {
    // There is no such room any more: the site is open.
    if (error.code === 'unknown_event') return go();
    const passing = !error.status || error.status === 503 || !has('error');
    const text = passing ? words.reconnecting : words.error;
    if (passing) show('waiting', 'reconnecting');
    else show('error');
    write('status', text);
    announce(text, 15000);
    countdown(retrySeconds, again);
  };

  const run = () => {
    if (first.has('admitted')) return admitted(Number(body.dataset.anteroomWindow), poll);
    if (!first.has('waiting')) {
      // A page that only waits to be loaded again; a closed one may know when it opens.
      const opened = Date.now() + body.dataset.anteroomOpens * 1000;
      const clock = () => opened && write('eta', opens(Math.max(0, Math.ceil((opened - Date.now()) / 1000))));
      return poll && countdown(first.has('provisional') ? poll : spread(poll), left => { clock(); again(left); if (!left && navigator.onLine !== false) go(); });
    }
    if (first.has('fresh') && navigator.cookieEnabled === false) return expired({ error: { code: 'missing_ticket' } });
    updated();
    show('waiting', first.has('reconnecting') ? 'reconnecting' : 'live', first.has('paused') ? 'paused' : '');
    if (body.dataset.anteroomOpens) opening(body.dataset.anteroomOpens);
    new QueueClient().listenStatus({ eventId, delay: poll * 1000 }).listen(status => {
      // Too soon asked: what was said still holds, and what counts down goes on.
      if (status.error?.status === 429) return;
      clearInterval(ticking);
      if (status.state === QueueState.waiting) waiting(status);
      else if (status.state === QueueState.admitted) admitted(status.claimWindowSeconds, first.has('unsent') ? 5 : 0);
      else if (status.state === QueueState.expired) expired(status);
      else failed(status);
    });
  };

  document.addEventListener('click', event => {
    const button = event.target.closest('[data-anteroom="leave"],[data-anteroom="rejoin"],[data-anteroom="go"]');
    if (!button) return;
    const what = button.dataset.anteroom;
    if (what === 'leave' && !confirm(words.leaveSure)) return event.preventDefault();
    if (button.form) return;
    event.preventDefault();
    if (what === 'go') return go();
    const form = document.getElementById('anteroom');
    if (what === 'rejoin') form.action = '/.anteroom/rejoin';
    form.submit();
  });
  run();
}

const body = globalThis.document?.body;
if (body?.dataset.anteroomRoom) {
  // The page's watchdog waits for this.
  globalThis.anteroom = QueueClient;
  runPage(body);
}
