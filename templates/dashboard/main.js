// The dashboard: who looks, at what, and whether what they see is current.
//
// One stream brings all rooms every second; the views draw it. A page that nobody looks at has no connection: browsers have
// six for a host, and every window takes two.

import { Nodes, Overview } from '/dashboard/overview.js';
import { h, said, say, set, show } from '/dashboard/parts.js';
import { Record } from '/dashboard/record.js';
import { RoomView } from '/dashboard/room.js';
import { clock, condition } from '/dashboard/words.js';
import { act, listen, see } from '/dashboard/wire.js';

const $ = id => document.getElementById(id);
const ROLES = ['viewer', 'operator', 'admin'];
const NODES = 5000;
// Nothing for so long, where something comes every second.
const SILENCE = 8000;
// A stream ends when keys change, and is back at once: nobody need hear of that.
const BLINK = 2500;
const EVERYBODY = '*';

const app = {
  records: new Map(),

  may: role => ROLES.indexOf(app.me.role) >= ROLES.indexOf(role),
  can: (method, path) => !!app.calls[path]?.[method],
  // Whose room it is, for whoever may name a tenant.
  tenant: room => (app.me.tenant_id ? undefined : room.tenant_id),

  record(room) {
    if (!app.records.has(room.event_id)) app.records.set(room.event_id, new Record());
    return app.records.get(room.event_id);
  },

  // The hour before the page was opened, once or again.
  async remember(room, again = false) {
    const record = app.record(room);
    if (!app.can('get', '/v1/rooms/{id}/history') || (record.asked && !again)) return;
    record.asked = true;
    try {
      const { minutes } = await see(`/v1/rooms/${encodeURIComponent(room.id)}/history?minutes=61`, app.tenant(room));
      record.learn(minutes);
    } catch { /* asked again with the next view */ }
  },
};

let view;
let stop;
let nodes;

// The room that the address names, if it names one.
function wanted() {
  try {
    return decodeURIComponent(/^#\/rooms\/(.+)$/.exec(location.hash)?.[1] || '');
  } catch {
    return '';
  }
}

function go() {
  const named = wanted();
  const rooms = shown();
  // One room is all there is to see.
  const name = named || (rooms.length === 1 ? rooms[0].event_id : null);
  const next = name ?? '';
  if (view?.at === next) return;
  const moved = !!view;
  view?.end();
  view = name ? new RoomView(app, name) : new Overview(app);
  view.at = next;
  $('view').replaceChildren(view.element);
  document.title = `${view.title()} · Anteroom`;
  if (moved) {
    scrollTo(0, 0);
    $('view').focus({ preventScroll: true });
  }
}

// Of one tenant, or of all.
function shown() {
  const rooms = app.update?.rooms || [];
  const { value } = $('tenant').querySelector('select');
  return value && value !== EVERYBODY ? rooms.filter(room => `t:${room.tenant_id}` === value) : rooms;
}

function tenants(rooms) {
  const names = [...new Set(rooms.map(room => room.tenant_id))].sort();
  const several = !app.me.tenant_id && names.length > 1;
  show($('tenant'), several);
  if (!several || app.tenants === names.join('\n')) return;
  app.tenants = names.join('\n');
  const select = $('tenant').querySelector('select');
  const { value } = select;
  select.replaceChildren(h('option', { value: EVERYBODY }, 'All tenants'), ...names.map(name => h('option', { value: `t:${name}` }, name || 'No tenant')));
  if (value) select.value = value;
}

// What changed that somebody should hear of.
function notice(rooms) {
  for (const room of rooms) {
    const [word] = condition(room);
    const record = app.record(room);
    // Who has just done it knows.
    const known = Date.now() - said() < 3000;
    if (record.word && record.word !== word && !known) say(`${room.event_id}: ${word}`, word === 'Store away' ? 'bad' : 'ok');
    record.word = word;
  }
}

function draw() {
  const { update } = app;
  if (!update) return;
  tenants(update.rooms);
  go();
  view.update({ rooms: shown(), all: update.rooms });
}

function heard(update) {
  app.update = update;
  update.rooms.forEach(room => app.record(room).note(room));
  notice(update.rooms);
  const well = update.store === 'connected';
  const store = $('store');
  set(store, well ? 'Store connected' : 'Store away');
  store.dataset.kind = well ? 'ok' : 'bad';
  show(store, true);
  set($('clock'), clock(update.rooms.length ? Math.max(...update.rooms.map(room => Date.parse(room.server_time))) : Date.now()));
  draw();
}

let lost;

function connected(up) {
  const line = $('line');
  set(line, up ? 'Live' : 'Reconnecting');
  line.dataset.kind = up ? 'ok' : 'warn';
  if (up) {
    clearTimeout(lost);
    lost = null;
    show($('banner'), false);
    document.body.classList.remove('stale');
  } else if (!lost) {
    const since = clock(Date.now());
    lost = setTimeout(() => {
      line.dataset.kind = 'bad';
      document.body.classList.add('stale');
      set($('banner'), `No connection to this node since ${since}. What you see is how it was then; it goes on by itself.`);
      show($('banner'), true);
    }, BLINK);
  }
}

function attend() {
  const looked = document.visibilityState === 'visible';
  if (looked && !stop) {
    const tenant = app.me.tenant_id ? undefined : EVERYBODY;
    stop = listen('/v1/updates', { tenant, silence: SILENCE, state: connected, on: (_, update) => heard(update) });
  } else if (!looked && stop) {
    stop();
    stop = null;
    view?.end();
    view = null;
  }
}

async function meet() {
  if (document.visibilityState !== 'visible') return;
  try {
    const found = await see('/v1/nodes', app.me.tenant_id ? undefined : EVERYBODY);
    nodes.put(found.nodes, app.update);
  } catch { /* the banner says so */ }
}

async function begin() {
  try {
    const [me, document] = await Promise.all([see('/v1/me'), see('/openapi.json')]);
    Object.assign(app, { me, calls: document.paths });
  } catch {
    connected(false);
    setTimeout(begin, 3000);
    return;
  }
  set($('who'), `${app.me.name} · ${app.me.role}${app.me.tenant_id ? ` · ${app.me.tenant_id}` : ''}`);
  nodes = new Nodes($('nodes'));
  attend();
  meet();
  setInterval(meet, NODES);
  addEventListener('hashchange', draw);
  document.addEventListener('visibilitychange', attend);
  $('tenant').addEventListener('change', draw);
}

$('logout').addEventListener('click', async () => {
  await act('POST', '/logout').catch(() => {});
  location.reload();
});
show($('whole'), document.fullscreenEnabled);
$('whole').addEventListener('click', () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
begin();
