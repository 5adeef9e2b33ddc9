// The client in Node, against a tiny line. ANTEROOM_CLIENT names the script as it is served, ANTEROOM_CASES
// what the server writes for numbers and estimates.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { start } from './server.mjs';
import { usage } from './usage.mjs';

const path = pathToFileURL(process.env.ANTEROOM_CLIENT).href;
// A module of its own each time: a program that has just started.
let copies = 0;
const fresh = () => import(`${path}?copy=${copies += 1}`);

// Waiting is noted and goes a hundred times as fast.
const delays = [];
const realTimeout = globalThis.setTimeout;
globalThis.setTimeout = (callback, ms, ...rest) => {
  delays.push(ms);
  return realTimeout(callback, ms > 100 ? ms / 100 : ms, ...rest);
};

async function using(options, run) {
  const line = await start(options);
  const client = await fresh();
  try {
    await run({ line, client, queue: new client.QueueClient({ baseUrl: line.baseUrl, deviceId: 'dev_abc123' }) });
  } finally { line.stop(); }
}

const collect = async stream => {
  const all = [];
  for await (const status of stream) all.push(status);
  return all;
};

test('the usage example', () => using({}, async ({ line, client }) => {
  const { joined, heartbeat, seen, token } = await usage({ client, baseUrl: line.baseUrl, eventId: 'evt_123' });
  assert.equal(joined.position, 3);
  assert.equal(joined.state, client.QueueState.waiting);
  assert.equal(joined.estimatedWaitSeconds, 180);
  assert.ok(joined.enqueuedAt instanceof Date);
  assert.equal(joined.admissionToken, null);
  assert.equal(heartbeat.nextPollSeconds, 30);
  assert.deepEqual(seen, [['waiting', 2], ['waiting', 1], ['admitted', 0]]);
  assert.equal(token.token, 'a.b.c');
  const join = line.requests[0];
  assert.deepEqual(join.body.user_id, 'usr_xyz789');
  assert.equal(join.body.priority_bucket, 'general');
  assert.equal(join.headers.accept, 'application/json');
}));

test('joining again finds the same place', () => using({}, async ({ line, queue }) => {
  const first = await queue.joinEvent({ eventId: 'evt_123' });
  const again = await queue.joinEvent({ eventId: 'evt_123' });
  assert.equal(again.queueId, first.queueId);
  const keys = line.requests.map(request => request.headers['idempotency-key']);
  assert.ok(keys[0].length > 10);
  assert.equal(keys[0], keys[1]);
  await assert.rejects(queue.joinEvent({ eventId: 'nothing' }), { name: 'QueueError', status: 400, code: 'bad_request' });
}));

test('a join goes through a bad moment', () => using({}, async ({ line, queue }) => {
  line.trouble.push((_, socket) => socket.destroy(), answer => answer(503, { error: { code: 'store_unavailable' } }, { 'retry-after': '1' }));
  assert.equal((await queue.joinEvent({ eventId: 'evt_123' })).position, 3);
  assert.equal(line.requests.length, 3);
}));

test('a join can be followed', () => using({}, async ({ line, queue, client }) => {
  line.trouble.push((_, socket) => socket.destroy(), answer => answer(503, { error: { code: 'store_unavailable' } }, { 'retry-after': '1' }));
  const seen = [];
  const joined = await queue.joinEvent({ eventId: 'evt_123', onStatus: status => seen.push(status) });
  assert.deepEqual(seen.map(status => [status.state, status.eventId]), ['joining', 'error', 'error', 'waiting'].map(state => [state, 'evt_123']));
  assert.ok(seen.every(status => status instanceof client.QueueStatus));
  assert.ok(seen[1].retrySeconds >= 5 && seen[2].retrySeconds >= 1 && seen[2].retrySeconds <= 1.5);
  assert.equal(seen[2].error.status, 503);
  assert.equal(seen[3], joined);
}));

test('headers of one\'s own go with every request', () => using({}, async ({ line, client }) => {
  const headers = { Authorization: 'Bearer abc', 'X-App': 'shop 2.1' };
  const queue = new client.QueueClient({ baseUrl: `${line.baseUrl}//`, deviceId: 'dev_abc123', headers });
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  await queue.sendHeartbeat({ queueId });
  await queue.onAdmitted({ queueId });
  await queue.leave({ queueId });
  assert.equal(new Set(line.requests.map(request => request.route)).size, 4);
  for (const { route, headers } of line.requests) {
    assert.deepEqual([headers.authorization, headers['x-app'], headers.accept], ['Bearer abc', 'shop 2.1', 'application/json'], route);
  }
}));

test('where the server gives no pace, the interval counts', () => using({ poll: 0 }, async ({ queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  for (const [options, pause] of [[{ pollInterval: 7000 }, 7000], [{}, 5000]]) {
    delays.length = 0;
    const stream = queue.listenStatus({ queueId, ...options });
    await new Promise(resolve => {
      let heard = 0;
      const subscription = stream.listen(() => { if ((heard += 1) === 1) { subscription.cancel(); resolve(); } });
    });
    assert.ok(delays.includes(pause), `${pause} in ${delays}`);
  }
}));

test('an arrival is asked about as told, and becomes a place with another ticket', () => using({}, async ({ line, queue }) => {
  const recorded = answer => answer(503, {
    error: { code: 'store_unavailable' }, queue_id: 'arrival', event_id: 'evt_123', status: 'provisional', next_poll_seconds: 3,
  }, { 'retry-after': '3' });
  line.trouble.push(recorded);
  const joined = await queue.joinEvent({ eventId: 'evt_123' });
  assert.deepEqual([joined.state, joined.status, joined.queueId, joined.position], ['waiting', 'provisional', 'arrival', undefined]);
  assert.equal(line.requests.length, 1, 'nobody joins again');
  line.positions.set('ticket', 3);
  const placed = answer => answer(200, { queue_id: 'ticket', event_id: 'evt_123', position: 3, status: 'waiting', next_poll_seconds: 0.05 });
  line.trouble.push(recorded, placed);
  delays.length = 0;
  const all = await collect(queue.listenStatus({ queueId: joined.queueId }));
  assert.ok(delays.includes(3000), `exactly as long as told: ${delays}`);
  assert.deepEqual(all.map(status => status.status), ['provisional', 'waiting', 'waiting', 'waiting', 'admitted']);
  const asked = line.requests.slice(1).map(request => request.query.queue_id);
  assert.deepEqual(asked, ['arrival', 'arrival', 'ticket', 'ticket', 'ticket']);
}));

test('a place that is kept is an error with the last place in it', () => using({}, async ({ line, queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  line.trouble.push(answer => answer(503, {
    error: { code: 'store_unavailable' }, queue_id: queueId, position: 3, status: 'waiting',
  }, { 'retry-after': '1' }));
  const states = (await collect(queue.listenStatus({ queueId }))).map(status => status.state);
  assert.deepEqual(states, ['error', 'waiting', 'waiting', 'admitted']);
}));

test('a place can be iterated over and waited for at once, with one question for both', () => using({}, async ({ line, queue, client }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  const [all, token] = await Promise.all([collect(queue.listenStatus({ queueId })), queue.onAdmitted({ queueId })]);
  assert.deepEqual(all.map(status => status.state), ['waiting', 'waiting', 'admitted']);
  assert.ok(token instanceof client.AdmissionToken);
  assert.equal(line.requests.filter(request => request.route === 'GET /v1/queue/status').length, 3);
}));

test('a lost connection keeps the last place, backs off, and goes on', () => using({ position: 4 }, async ({ line, queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  const cut = (_, socket) => socket.destroy();
  line.trouble.push(null, cut, cut, cut, cut);
  delays.length = 0;
  const all = await collect(queue.listenStatus({ queueId }));
  assert.deepEqual(all.map(status => [status.state, status.position]), [
    ['waiting', 3], ['error', 3], ['error', 3], ['error', 3], ['error', 3], ['waiting', 2], ['waiting', 1], ['admitted', 0],
  ]);
  assert.ok(all[1].error && !all[1].error.status);
  const pauses = delays.filter(ms => ms >= 5000 && ms !== 15000);
  assert.equal(pauses.length, 4);
  [5, 10, 30, 30].forEach((seconds, at) => {
    assert.ok(pauses[at] >= seconds * 1000 && pauses[at] <= seconds * 1500, `${pauses}`);
  });
}));

test('the server sets the pace, and Retry-After is heeded', () => using({ poll: 20 }, async ({ line, queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  line.trouble.push(answer => answer(429, { error: { code: 'rate_limited' } }, { 'retry-after': '7' }));
  delays.length = 0;
  const all = await collect(queue.listenStatus({ queueId }));
  assert.deepEqual(all.map(status => status.state), ['error', 'waiting', 'waiting', 'admitted']);
  assert.equal(all[0].error.status, 429);
  const pauses = delays.filter(ms => ms >= 5000 && ms !== 15000);
  assert.ok(pauses[0] >= 7000 && pauses[0] <= 10500);
  assert.deepEqual(pauses.slice(1), [20000, 20000]);
}));

test('what is over ends it', () => using({}, async ({ line, queue, client }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  line.trouble.push(answer => answer(410, { error: { code: 'gone', message: 'over' }, reason: 'passed' }));
  const all = await collect(queue.listenStatus({ queueId }));
  assert.equal(all.length, 1);
  assert.equal(all[0].state, client.QueueState.expired);
  assert.equal(all[0].reason, 'passed');
  assert.equal(await queue.onAdmitted({ queueId: 'forged' }), null);
  await assert.rejects(queue.sendHeartbeat({ queueId: 'forged' }), { status: 404, code: 'unknown_ticket' });
}));

test('listening can be cancelled', () => using({ position: 100 }, async ({ line, queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  await new Promise(resolve => {
    const subscription = queue.listenStatus({ queueId }).listen(() => { subscription.cancel(); resolve(); });
  });
  const asked = line.requests.length;
  await new Promise(resolve => realTimeout(resolve, 200));
  assert.equal(line.requests.length, asked);
}));

test('whoever comes back asks at once, but not in a rush', () => using({ position: 100, poll: 5000 }, async ({ line, queue }) => {
  const events = new EventTarget();
  globalThis.addEventListener = events.addEventListener.bind(events);
  globalThis.removeEventListener = events.removeEventListener.bind(events);
  const realNow = Date.now;
  try {
    const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
    let answered;
    const next = () => new Promise(resolve => { answered = resolve; });
    const first = next();
    const subscription = queue.listenStatus({ queueId }).listen(() => answered());
    await first;
    const asked = () => line.requests.filter(request => request.route === 'GET /v1/queue/status').length;
    events.dispatchEvent(new Event('online'));
    await new Promise(resolve => realTimeout(resolve, 100));
    assert.equal(asked(), 1, 'a second ago is soon enough');
    Date.now = () => realNow() + 60000;
    const second = next();
    events.dispatchEvent(new Event('focus'));
    events.dispatchEvent(new Event('visibilitychange'));
    await second;
    assert.equal(asked(), 2);
    subscription.cancel();
  } finally {
    Date.now = realNow;
    delete globalThis.addEventListener;
    delete globalThis.removeEventListener;
  }
}));

test('tokens end by the server\'s clock, also after a restart', () => using({ position: 1, clock: () => Date.now() + 3600000 }, async ({ queue }) => {
  const kept = new Map();
  globalThis.localStorage = { getItem: key => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  const realNow = Date.now;
  try {
    const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
    const token = await queue.onAdmitted({ queueId });
    await token.save();
    assert.ok(token.isValid());
    const restart = async () => new (await fresh()).QueueClient({ baseUrl: 'http://127.0.0.1:1' });
    assert.equal((await (await restart()).restoreToken({ eventId: 'evt_123' })).token, 'a.b.c');
    // Six minutes later; our clock, an hour behind, would call it good for another hour.
    Date.now = () => realNow() + 360000;
    assert.ok(!token.isValid());
    assert.equal(await (await restart()).restoreToken({ eventId: 'evt_123' }), null);
  } finally {
    Date.now = realNow;
    delete globalThis.localStorage;
  }
}));

test('what was saved and spoiled is no token', () => using({}, async ({ queue }) => {
  const kept = new Map();
  globalThis.localStorage = { getItem: key => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  try {
    for (const spoiled of ['', '{', 'undefined', 'null', '7', '"a.b.c"', '[]', '{"token":null}', '{"token":"a.b.c","expiresAt":"soon"}']) {
      kept.set('anteroom.token.evt_123', spoiled);
      assert.equal(await queue.restoreToken({ eventId: 'evt_123' }), null, spoiled);
    }
  } finally { delete globalThis.localStorage; }
}));

test('leaving', () => using({}, async ({ line, queue }) => {
  const { queueId } = await queue.joinEvent({ eventId: 'evt_123' });
  await queue.leave({ queueId });
  assert.deepEqual(line.left, [queueId]);
}));

test('numbers and estimates read as the server writes them', async () => {
  const { formatEta, formatNumber } = await fresh();
  const languages = JSON.parse(readFileSync(process.env.ANTEROOM_CASES, 'utf8'));
  assert.ok(languages.length >= 12);
  for (const { words, estimates, numbers } of languages) {
    for (const [low, high, text] of estimates) {
      assert.equal(formatEta(words, { low, high }), text, `${words.numbers}: ${low} to ${high}`);
    }
    for (const [number, text] of numbers) {
      assert.equal(formatNumber(words, number), text, words.numbers);
      assert.equal(new Intl.NumberFormat(words.numbers).format(number), text, words.numbers);
    }
  }
});

test('when something is tried again is said in seconds, minutes or hours', async () => {
  const { formatAgain } = await fresh();
  const languages = JSON.parse(readFileSync(process.env.ANTEROOM_CASES, 'utf8'));
  const said = {};
  for (const { words, sibling } of languages) {
    const code = words.numbers.slice(0, 2);
    said[code] = left => formatAgain(words, left);
    const digits = text => Number(text.replace(/\D/g, '') || '2');
    for (let left = 0; left < 100000; left += left < 200 ? 1 : 59) {
      const text = formatAgain(words, left);
      assert.ok(text && !/[{}]|undefined|NaN/.test(text), `${code}: ${left}: ${text}`);
      assert.ok(digits(text) <= 120, `a number nobody can picture: ${code}: ${left}: ${text}`);
      assert.equal(formatAgain(sibling, left), text, `the same on every page: ${code}`);
    }
  }
  const cases = [
    ['en', 1, 'Next try in 1 second'], ['en', 60, 'Next try in 60 seconds'], ['en', 61, 'Next try in 2 minutes'],
    ['en', 1800, 'Next try in 30 minutes'], ['en', 7200, 'Next try in 120 minutes'], ['en', 7201, 'Next try in 3 hours'],
    ['de', 1790, 'Nächster Versuch in 30 Minuten'], ['ja', 600, '10分後にもう一度試します'], ['ar', 120, 'المحاولة التالية بعد دقيقتين'],
    ['ru', 1260, 'Следующая попытка через 21 минуту'], ['ru', 1320, 'Следующая попытка через 22 минуты'],
    ['uk', 75600, 'Наступна спроба через 21 годину'], ['pl', 300, 'Następna próba za 5 minut'],
  ];
  for (const [code, left, text] of cases) assert.equal(said[code](left), text);
});
