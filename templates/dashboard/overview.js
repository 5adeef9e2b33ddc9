// Every room at a glance: what they hold together, and a card for each. And below, whatever the view: the nodes.

import { Spark, valueAt } from '/dashboard/chart.js';
import { h, set, show, tile } from '/dashboard/parts.js';
import { NONE, condition, count, figure, reached, span } from '/dashboard/words.js';

// The width of a card at least, in rem.
const LEAST = 21;

export class Overview {
  constructor(app) {
    this.app = app;
    this.cards = new Map();
    this.tiles = {
      waiting: tile('Waiting', 'hero'), inside: tile('Inside'), called: tile('Called'), joins: tile('Joining'), entries: tile('Entering'),
    };
    this.spark = new Spark('c1');
    this.list = h('ul', { class: 'cards' });
    // A phone that is turned has another width at once, and figures only with the next answer.
    this.sized = new ResizeObserver(() => this.arrange(this.cards.size));
    this.sized.observe(this.list);
    this.empty = h('p', { class: 'empty', hidden: true }, 'There is no room yet. A room is a table [rooms.NAME] in the configuration, or comes with a tenant’s key.');
    this.element = h('div', { class: 'overview' }, h('h1', { class: 'sr' }, 'Rooms'),
      h('div', { class: 'sum' }, h('dl', { class: 'tiles' }, Object.values(this.tiles).map(of => of.element)), this.spark.element), this.list, this.empty);
  }

  title() { return 'Rooms'; }

  update({ rooms }) {
    const sum = value => rooms.reduce((all, room) => all + (value(room) || 0), 0);
    const flow = name => sum(room => this.app.record(room).latest(name));
    const seats = rooms.every(room => room.max_active != null) && sum(room => room.max_active);
    this.tiles.waiting.put(count(sum(room => room.waiting)), rooms.length === 1 ? 'in one room' : `in ${count(rooms.length)} rooms`);
    this.tiles.inside.put(count(sum(room => room.active)), seats ? `of ${count(seats)} seats` : 'in all rooms');
    this.tiles.called.put(count(sum(room => room.admitted)), 'not inside yet');
    this.tiles.joins.put(figure(flow('joins')), 'a minute');
    this.tiles.entries.put(figure(flow('entries')), 'a minute');
    const names = rooms.map(room => room.event_id);
    for (const [name, card] of this.cards) if (!names.includes(name)) { card.element.remove(); this.cards.delete(name); }
    for (const room of rooms) {
      if (!this.cards.has(room.event_id)) {
        const card = new Card(room);
        this.cards.set(room.event_id, card);
        this.list.append(card.element);
        this.app.remember(room);
      }
      this.cards.get(room.event_id).update(room, this.app.record(room));
    }
    this.together(rooms);
    this.arrange(rooms.length);
    show(this.list, rooms.length > 0);
    show(this.empty, rooms.length === 0);
  }

  // All who wait, in a hundred steps of the time that is known.
  together(rooms) {
    const records = rooms.map(room => this.app.record(room));
    const from = Math.min(...records.map(record => record.window(1000)[0]));
    const to = Math.max(...records.map(record => record.window(1000)[1]));
    const lines = records.map(record => record.series('waiting'));
    const moments = Array.from({ length: 101 }, (_, step) => from + (to - from) * step / 100);
    const sums = moments.map(at => [at, lines.reduce((all, line) => all + (valueAt(line, at) ?? 0), 0)]);
    const first = Math.min(...lines.map(line => line[0]?.[0] ?? to));
    this.spark.put([from, to], sums.filter(([at]) => at >= first));
  }

  // As many in a row as fit, and rows alike: six in two rows of three, not five and one.
  arrange(cards) {
    const wide = parseFloat(getComputedStyle(document.documentElement).fontSize) * LEAST;
    const most = Math.max(1, Math.floor(this.list.clientWidth / wide));
    const rows = Math.ceil(cards / most) || 1;
    this.list.style.gridTemplateColumns = `repeat(${Math.ceil(cards / rows) || 1}, minmax(0, 1fr))`;
  }

  end() { this.sized.disconnect(); }
}

class Card {
  constructor(room) {
    this.badge = h('span', { class: 'pill' });
    this.waiting = h('b', { class: 'value' });
    this.spark = new Spark('c1');
    this.bar = h('i');
    this.values = {};
    const fact = (name, label) => h('div', {}, h('dt', {}, label), this.values[name] = h('dd'));
    this.message = h('p', { class: 'soft small note' });
    const address = `#/rooms/${encodeURIComponent(room.event_id)}`;
    const tenant = room.tenant_id && h('span', { class: 'soft' }, `${room.tenant_id} / `);
    this.element = h('li', { class: 'card' },
      h('div', { class: 'row' }, h('h2', {}, h('a', { href: address }, tenant, room.id)), this.badge),
      h('p', { class: 'big' }, this.waiting, h('span', { class: 'soft' }, ' waiting')), this.spark.element,
      h('dl', { class: 'facts' }, fact('inside', 'Inside'), fact('rate', 'Rate'), fact('wait', 'Wait now'), fact('joins', 'Joining')),
      h('p', { class: 'bar', 'aria-hidden': 'true' }, this.bar), this.message);
  }

  update(room, record) {
    const [word, kind, note] = condition(room);
    set(this.badge, word);
    this.badge.dataset.kind = kind;
    set(this.waiting, count(room.waiting));
    this.spark.put(record.window(1000), record.series('waiting'));
    const { inside, rate, wait, joins } = this.values;
    set(inside, room.max_active == null ? count(room.active) : `${count(room.active)} / ${count(room.max_active)}`);
    set(rate, reached(room));
    set(wait, room.eta ? span(room.eta.seconds) : NONE);
    set(joins, `${figure(room.join_rate * 60)}/min`);
    const full = room.max_active ? Math.min(1, (room.active + room.admitted) / room.max_active) : 0;
    this.bar.style.inlineSize = `${full * 100}%`;
    this.bar.parentElement.classList.toggle('none', room.max_active == null);
    this.bar.classList.toggle('full', full >= 1);
    set(this.message, note);
  }
}

// Who serves visitors, and how well each hears the store.
export class Nodes {
  constructor(element) {
    this.element = element;
    this.list = h('ul', { class: 'chips' });
    element.replaceChildren(h('h2', {}, 'Nodes'), this.list);
  }

  put(nodes, update) {
    this.list.replaceChildren(...nodes.map(node => this.chip(node, update)));
    show(this.element, true);
  }

  chip(node, update) {
    const rooms = node.rooms || [];
    const away = rooms.filter(room => room.store && room.store !== 'connected').length;
    const heard = node.last_heard_seconds ?? (rooms.length ? Math.max(...rooms.map(room => room.last_exchange_seconds ?? 0)) : null);
    const offset = node.clock_offset_ms ?? (rooms.length ? Math.max(...rooms.map(room => Math.abs(room.clock_offset_ms ?? 0))) : null);
    const late = away > 0 || heard > 10;
    const own = node.this && update?.node.connections != null
      ? `${count(update.node.connections)} connections · ${count(update.node.streams)} streams` : null;
    const facts = [
      `${node.store || ''} store ${away ? 'away' : 'connected'}`, heard != null && `heard ${heard < 2 ? 'now' : `${span(heard)} ago`}`,
      offset != null && `clock ${Math.abs(offset) < 50 ? 'right' : `off by ${count(Math.abs(offset))} ms`}`, `up ${span(node.uptime_seconds)}`, own,
    ];
    return h('li', { class: 'chip' },
      h('span', { class: 'pill', 'data-kind': late ? 'bad' : 'ok' }, node.this ? 'This node' : 'Node'),
      h('code', {}, node.id.slice(0, 8)), h('span', { class: 'soft' }, `v${node.version}`),
      h('span', { class: 'soft' }, facts.filter(Boolean).join(' · ')));
  }
}
