// The calls this page makes: those that anybody with a key can make, by the session's cookie.
//
// Owns nothing but the wire. A session that is over leads back to the key.

// An answer that is none: `status` of HTTP, `code` of the body, and a sentence.
export class Refused extends Error {
  constructor(status, { code, message } = {}) {
    super(message || `The node answers ${status}.`);
    Object.assign(this, { name: 'Refused', status, code });
  }
}

const LATE = 15000;

// Not randomUUID: browsers have that over TLS only.
const fresh = () => [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');

const headers = (tenant, more) => (tenant ? { ...more, 'x-tenant-id': tenant } : more);

const check = async response => {
  if (response.ok) return response;
  if (response.status === 401) location.reload();
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, body.error);
};

// What is there.
export async function see(path, tenant, kind = 'json') {
  const response = await check(await fetch(path, { headers: headers(tenant, {}), signal: AbortSignal.timeout(LATE) }));
  return response[kind]();
}

// What came of it. Each has a key of its own, so that a network that sends it twice does it once.
export async function act(method, path, body, tenant) {
  const response = await check(await fetch(path, {
    method,
    headers: headers(tenant, { 'content-type': 'application/json', 'idempotency-key': fresh() }),
    body: JSON.stringify(body || {}),
    signal: AbortSignal.timeout(LATE),
  }));
  return response.status === 204 ? null : response.json();
}

// Seconds before the next try.
const BACKOFF = [1, 2, 5, 10];

// Server-sent events by fetch: an EventSource can't name a tenant. `on(name, data)` hears them, `state(up)` whether there
// is a connection. Nothing for `silence` milliseconds is none. Returns what ends it.
export function listen(path, { tenant, on, state = () => {}, silence = 40000 }) {
  let over = false;
  let current;
  const once = async () => {
    current = new AbortController();
    let watch = setTimeout(() => current.abort(), silence);
    try {
      const response = await check(await fetch(path, { headers: headers(tenant, {}), signal: current.signal }));
      state(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(watch);
        watch = setTimeout(() => current.abort(), silence);
        const events = (text + value).split('\n\n');
        text = events.pop();
        for (const event of events) if (!over) tell(event, on);
      }
    } finally {
      clearTimeout(watch);
    }
  };
  (async () => {
    for (let failures = 0; !over; failures += 1) {
      const began = Date.now();
      try { await once(); } catch { /* tried again below */ }
      if (over) return;
      state(false);
      if (Date.now() - began > 30000) failures = 0;
      await new Promise(resolve => setTimeout(resolve, 1000 * BACKOFF[Math.min(failures, BACKOFF.length - 1)]));
    }
  })();
  return () => {
    over = true;
    current?.abort();
  };
}

function tell(event, on) {
  const field = name => event.split('\n').find(line => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = field('data');
  if (data) on(field('event'), JSON.parse(data));
}
