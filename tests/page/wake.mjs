// A tab that wakes up asks at once, but not before the time a server said that had enough of it.
//
//   node wake.mjs CLIENT.js
//
// Ends with 0 if it does. The clock and the server are this script's.

import assert from 'node:assert';
import { pathToFileURL } from 'node:url';

let now = 1_000_000, asked = 0, answer;
Date.now = () => now;
const wakers = [];
globalThis.addEventListener = (_, waker) => wakers.push(waker);
globalThis.removeEventListener = () => {};
globalThis.fetch = async () => { asked += 1; return answer; };
const says = (status, headers, body) => ({ ok: status < 400, status, headers: new Headers(headers), json: async () => body });
const settled = () => new Promise(resolve => setTimeout(resolve, 20));
const wake = async ms => { now += ms; wakers[0](); await settled(); return asked; };

const { QueueClient } = await import(pathToFileURL(process.argv[2]));
const client = new QueueClient({ baseUrl: 'http://shop.example/v1' });
answer = says(200, {}, { status: 'waiting', event_id: 'sale', position: 3, next_poll_seconds: 900 });
client.listenStatus({ queueId: 'a ticket' }).listen(() => {});
await settled();
assert.equal(asked, 1);
assert.equal(await wake(1_000), 1, 'it has asked just now');
answer = says(429, { 'retry-after': '60' }, { error: { code: 'rate_limited' } });
assert.equal(await wake(10_000), 2, 'whoever comes back asks at once');
assert.equal(await wake(50_000), 2, 'not before the time it was given');
answer = says(500, { 'retry-after': '0' }, {});
assert.equal(await wake(41_000), 3, 'and then it does');
assert.equal(await wake(3_000), 4, 'after a failure at once');
process.exit(0);
