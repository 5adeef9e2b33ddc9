// The usage example of the SDK's specification, in JavaScript: join, listen, heartbeat, get in.
//
//   node usage.mjs CLIENT.js BASE_URL EVENT_ID
//
// Runs against anything that speaks the visitor API below BASE_URL (…/.anteroom/v1). Ends with 0 and a
// line of JSON when the token is there, is good and comes back after a restart.

import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

export async function usage({ client, baseUrl, eventId, heartbeatMs = 30000, deadlineMs = 120000 }) {
  const { QueueClient, QueueState } = client;

  // Initialize
  await QueueClient.initialize({ baseUrl, deviceId: randomUUID(), userId: 'usr_xyz789' });

  // Join queue
  const status = await QueueClient.instance.joinEvent({ eventId, priorityBucket: 'general' });

  // Listen for updates
  const seen = [];
  const admitted = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`not admitted in time: ${JSON.stringify(seen)}`)), deadlineMs).unref();
    QueueClient.instance.listenStatus({ queueId: status.queueId }).listen(status => {
      seen.push([status.state, status.position]);
      if (status.state === QueueState.admitted) {
        // Navigate to protected resource
        resolve(status.admissionToken);
      } else if (status.state === QueueState.expired) {
        reject(new Error(`expired: ${status.reason}`));
      }
    });
  });

  // Send periodic heartbeat
  const first = status.state === QueueState.admitted ? null : await QueueClient.instance.sendHeartbeat({ queueId: status.queueId });
  const timer = setInterval(() => QueueClient.instance.sendHeartbeat({ queueId: status.queueId }).catch(() => {}), heartbeatMs);
  try {
    const token = await admitted;
    if (!token?.token || !token.isValid()) throw new Error(`no good token: ${JSON.stringify(token)}`);
    if (token.eventId !== eventId) throw new Error(`of another event: ${token.eventId}`);

    // Keep it for after a restart
    await token.save();
    const restored = await QueueClient.instance.restoreToken({ eventId });
    if (restored?.token !== token.token || !restored.isValid()) throw new Error('not restored');
    if (await QueueClient.instance.restoreToken({ eventId: 'another' })) throw new Error('restored for another event');
    return { joined: status, heartbeat: first, seen, token };
  } finally { clearInterval(timer); }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path, baseUrl, eventId] = process.argv.slice(2);
  const client = await import(pathToFileURL(path));
  const { joined, seen, token } = await usage({ client, baseUrl, eventId });
  console.log(JSON.stringify({ position: joined.position, seen, expiresAt: token.expiresAt }));
  process.exit(0);
}
