// A tiny line behind the visitor API: everybody moves up one place a poll. What a test wants to go wrong
// is put into `trouble`: one function a request, the first in the list first.

import http from 'node:http';

export async function start({ position = 3, poll = 0.05, clock = () => Date.now() } = {}) {
  const line = { requests: [], trouble: [], left: [], positions: new Map() };
  const time = offset => new Date(clock() + offset).toISOString();

  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const url = new URL(request.url, 'http://line');
    const body = text ? JSON.parse(text) : {};
    const route = `${request.method} ${url.pathname}`;
    line.requests.push({ route, body, query: Object.fromEntries(url.searchParams), headers: request.headers, at: Date.now() });
    const answer = (status, fields, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ ...fields, server_time: time(0) }));
    };
    const trouble = line.trouble.shift();
    if (trouble) return trouble(answer, request.socket);

    const queueId = body.queue_id || url.searchParams.get('queue_id');
    const place = id => ({
      queue_id: id, queue_ref: 'q_abc', event_id: 'evt_123', position: line.positions.get(id), position_label: 'A-000123',
      waiting: 1523, estimated_wait_seconds: 180, eta: { low: 120, high: 240 }, status: 'waiting', paused: false,
      enqueued_at: time(-60000), last_heartbeat: time(0), next_poll_seconds: poll,
    });
    switch (route) {
      case 'POST /v1/queue/join': {
        if (body.event_id !== 'evt_123' || !body.device_id) return answer(400, { error: { code: 'bad_request', message: 'no' } });
        const id = `ticket-of-${body.device_id}`;
        const known = line.positions.has(id);
        if (!known) line.positions.set(id, position);
        return answer(known ? 409 : 200, place(id));
      }
      case 'GET /v1/queue/status':
      case 'POST /v1/queue/heartbeat': {
        if (!line.positions.has(queueId)) return answer(404, { error: { code: 'unknown_ticket', message: 'no such place' } });
        if (route.startsWith('POST')) return answer(200, { queue_id: queueId, position: line.positions.get(queueId), status: 'waiting', next_heartbeat_seconds: 30 });
        const now = line.positions.get(queueId) - 1;
        line.positions.set(queueId, now);
        if (now > 0) return answer(200, place(queueId));
        return answer(200, { ...place(queueId), position: 0, status: 'admitted', token: 'a.b.c', expires_at: time(300000), claim_window_seconds: 120 });
      }
      case 'POST /v1/queue/leave':
        line.left.push(queueId);
        return answer(200, { status: 'expired' });
      default:
        return answer(404, { error: { code: 'not_found', message: route } });
    }
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  line.baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  line.stop = () => { server.closeAllConnections(); server.close(); };
  return line;
}
