// One room: its figures, its hour, its settings, its verbs, its people.

import { Chart } from '/dashboard/chart.js';
import { h, panel, say, set, show, tile } from '/dashboard/parts.js';
import { Audit, Line, Search, Ticker } from '/dashboard/people.js';
import { NONE, condition, count, countdown, exact, millis, moment, rate, span, until } from '/dashboard/words.js';
import { Shadow } from '/dashboard/shadow.js';
import { Verbs, takeBack } from '/dashboard/verbs.js';
import { see } from '/dashboard/wire.js';

const REMEMBER = 30000;

// What the node measures itself, and only its history tells.
const FROM_HISTORY = 'Comes with the node’s history of this room';

const charts = () => [
  new Chart({ title: 'Waiting', unit: 'people', whole: true, wide: true, lines: [{ name: 'waiting', label: 'Waiting', colour: 'c1', area: true }] }),
  new Chart({ title: 'Inside', unit: 'people', whole: true, lines: [
    { name: 'active', label: 'Inside', colour: 'c2', area: true }, { name: 'admitted', label: 'Called', colour: 'c5' },
    { name: 'max_active', label: 'Seats', colour: 'c0', dash: 'dashed' }] }),
  new Chart({ title: 'Coming and entering', unit: 'a minute', lines: [
    { name: 'joins', label: 'Joined', colour: 'c1' }, { name: 'entries', label: 'Entered', colour: 'c2', dash: 'dotted' }] }),
  new Chart({ title: 'Lost on the way', unit: 'a minute', lines: [
    { name: 'no_shows', label: 'No-shows', colour: 'c3' }, { name: 'drop_outs', label: 'Drop-outs', colour: 'c4', dash: 'dotted' }] }),
  new Chart({ title: 'Rate', unit: 'turns a second', lines: [
    { name: 'rate_reached', label: 'Reached', colour: 'c2', area: true }, { name: 'rate_set', label: 'Set', colour: 'c0', dash: 'dashed' }] }),
  new Chart({ title: 'Time waited', unit: 'by those who entered', say: span, timed: true, lines: [
    { name: 'wait_p50_seconds', label: 'Half', colour: 'c1' }, { name: 'wait_p90_seconds', label: '90 %', colour: 'c3', dash: 'dotted' },
    { name: 'wait_p99_seconds', label: '99 %', colour: 'c4', dash: 'dashed' }, { name: 'average_wait_seconds', label: 'Mean', colour: 'c0' }] }),
  new Chart({ title: 'Origin requests', unit: 'a minute', whole: true, empty: FROM_HISTORY, lines: [
    { name: 'origin_requests', label: 'Requests', colour: 'c2', area: true }] }),
  new Chart({ title: 'Origin latency', unit: '95 % are faster', say: millis, empty: FROM_HISTORY, lines: [{ name: 'origin_p95_ms', label: 'p95', colour: 'c5', area: true }] }),
  new Chart({ title: 'Origin errors', unit: 'a minute', whole: true, empty: FROM_HISTORY, lines: [
    { name: 'origin_errors', label: 'Errors', colour: 'c4', area: true }] }),
];

// Seats are as they are now, all along; a mean is for want of anything better.
function points(room, record, name) {
  if (name === 'max_active') {
    const [from, to] = record.window();
    return room.max_active == null ? [] : Array.from({ length: 61 }, (_, step) => [from + (to - from) * step / 60, room.max_active]);
  }
  return name === 'average_wait_seconds' && record.remembers ? [] : record.series(name);
}

export class RoomView {
  constructor(app, name) {
    Object.assign(this, { app, name });
    this.tiles = {
      waiting: tile('Waiting', 'hero'), inside: tile('Inside'), called: tile('Called'),
      rate: tile('Rate'), wait: tile('Wait for a newcomer'), average: tile('Time waited'),
    };
    this.badge = h('span', { class: 'pill' });
    this.note = h('p', { class: 'soft' });
    this.message = h('p', { class: 'message', hidden: true });
    this.charts = charts();
    this.verbs = new Verbs(app);
    this.people = [new Line(app), new Search(app), new Ticker(app), new Audit(app), new Shadow(app)];
    this.settings = h('dl', { class: 'settings' });
    this.csv = h('button', { type: 'button', class: 'quiet', onclick: () => this.download() }, 'The day as CSV');
    this.gone = h('p', { class: 'empty', hidden: true }, 'There is no such room, or not any more.');
    const [line, search, ticker, audit, shadow] = this.people.map(part => part.element);
    const back = h('a', { class: 'back', href: '#/', 'aria-label': 'All rooms' }, '‹');
    this.back = back;
    this.heading = h('h1', {});
    this.body = h('div', {},
      h('div', { class: 'title' }, back, this.heading, this.badge), this.note, this.message,
      h('dl', { class: 'tiles' }, Object.values(this.tiles).map(of => of.element)),
      h('div', { class: 'split' }, this.verbs.element,
        h('div', { class: 'hour' }, h('h2', { class: 'sr' }, 'The last hour'), h('div', { class: 'charts' }, this.charts.map(chart => chart.element)),
          app.can('get', '/v1/rooms/{id}/history') && h('p', { class: 'row end' }, this.csv)),
        h('div', { class: 'side' }, shadow, search, line, ticker, panel('Settings', this.settings), audit)));
    this.element = h('div', { class: 'room' }, this.body, this.gone);
  }

  title() { return this.name; }

  update({ rooms, all }) {
    const room = all.find(room => room.event_id === this.name);
    show(this.gone, !room);
    show(this.body, !!room);
    show(this.back, rooms.length > 1);
    if (!room) return;
    const first = !this.room;
    this.room = room;
    const [word, kind, note] = condition(room);
    set(this.heading, room.event_id);
    set(this.badge, word);
    this.badge.dataset.kind = kind;
    set(this.note, note);
    set(this.message, room.message ? `Visitors read: “${room.message}”` : '');
    show(this.message, !!room.message);
    this.figures(room);
    const record = this.app.record(room);
    const window = record.window();
    for (const chart of this.charts) {
      chart.put(window, Object.fromEntries(chart.lines.map(({ name }) => [name, points(room, record, name)])));
    }
    this.verbs.update(room);
    this.describe(room);
    this.people.forEach(part => part.update(room));
    if (first) this.begin();
  }

  figures(room) {
    const { tiles } = this;
    const most = room.max_waiting == null ? '' : `of at most ${count(room.max_waiting)}`;
    if (room.mode === 'shadow') tiles.waiting.put(count(room.shadow_waiting), 'would be waiting');
    else tiles.waiting.put(count(room.waiting), [most || `${count(room.joined_total)} joined in all`, room.class_waiting > 0 && `${count(room.class_waiting)} of a class`].filter(Boolean).join(' · '));
    tiles.inside.put(count(room.active), room.max_active == null ? 'no limit on seats' : `of ${count(room.max_active)} ${room.max_active === 1 ? 'seat' : 'seats'}`);
    tiles.called.put(count(room.admitted), 'not inside yet');
    tiles.rate.put(rate(room.rate_reached), room.adaptive ? room.adaptive.reason : room.rate_set == null ? 'no rate is set' : `set to ${rate(room.rate_set)}`);
    const { eta } = room;
    const [low, high] = eta ? [span(eta.low), span(eta.high)] : [];
    if (room.opens_at) tiles.wait.put(countdown(until(room, room.opens_at)), `until it opens${room.draw ? ', with a draw' : ''}`);
    else tiles.wait.put(eta ? span(eta.seconds) : NONE, !eta ? 'nobody is released' : low === high ? 'as things go now' : `between ${low} and ${high}`);
    const last = room.last_admission_at && (Date.parse(room.server_time) - Date.parse(room.last_admission_at)) / 1000;
    tiles.average.put(span(room.average_wait_seconds), last == null ? 'nobody has entered' : `last entry ${last < 2 ? 'now' : `${span(last)} ago`}`);
  }

  begin() {
    const remember = () => this.app.remember(this.room, true);
    remember();
    this.timer = setInterval(remember, REMEMBER);
  }

  // What is set, and what of it an operator changed.
  describe(room) {
    const seconds = { claim_window_seconds: 'Claim window', session_idle_seconds: 'Session, idle', session_max_seconds: 'Session, at most', heartbeat_timeout_seconds: 'Gone after silence of' };
    const rows = [['mode', 'Mode', room.mode], ['rate', 'Rate', room.rate_set == null ? 'no limit' : rate(room.rate_set)],
      room.adaptive && ['adaptive', 'Follows the origin', `${rate(room.adaptive.rate)} now, at least ${rate(room.adaptive.rate_min)}`],
      ['max_active', 'Seats', room.max_active == null ? 'no limit' : count(room.max_active)],
      ['max_waiting', 'May wait', room.max_waiting == null ? 'no limit' : count(room.max_waiting)],
      ...Object.entries(seconds).filter(([name]) => room[name] != null).map(([name, label]) => [name.replace('_seconds', ''), label, exact(room[name])]),
      room.rollout < 100 && ['rollout', 'Applies to', `${room.rollout} of 100 visitors`],
      room.webhook_url && ['webhook_url', 'Webhook', room.webhook_url]].filter(Boolean);
    const overrides = room.overrides || {};
    const told = JSON.stringify([rows, overrides]);
    if (told === this.told) return;
    this.told = told;
    const may = this.app.may('operator') && this.app.can('patch', '/v1/rooms/{id}');
    this.settings.replaceChildren(...rows.map(([name, label, value]) => {
      const over = overrides[name];
      const until = over?.until ? `changed until ${moment(Date.parse(over.until))}` : 'changed';
      return h('div', {}, h('dt', {}, label), h('dd', {}, value, over && h('span', { class: 'pill', 'data-kind': 'warn' }, until),
        over && may && h('button', { type: 'button', class: 'quiet small', onclick: () => takeBack(this.app, this.room, name, label) }, 'Take back')));
    }));
  }

  async download() {
    try {
      const path = `/v1/rooms/${encodeURIComponent(this.room.id)}/history?minutes=1440&format=csv`;
      const url = URL.createObjectURL(await see(path, this.app.tenant(this.room), 'blob'));
      h('a', { href: url, download: `${this.room.event_id.replace('/', '-')}.csv` }).click();
      URL.revokeObjectURL(url);
    } catch (refused) {
      say(refused.message, 'bad');
    }
  }

  end() {
    clearInterval(this.timer);
    this.charts.forEach(chart => chart.end());
    this.people.forEach(part => part.end());
  }
}
