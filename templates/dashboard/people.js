// Who is in a room: the next in line, one of them, what happens to them, and who changed something.

import { h, panel, set, show } from '/dashboard/parts.js';
import { NONE, classed, clock, count, event, moment, span } from '/dashboard/words.js';
import { revoke, steering } from '/dashboard/verbs.js';
import { listen, see } from '/dashboard/wire.js';

export const at = (room, rest) => `/v1/rooms/${encodeURIComponent(room.id)}${rest}`;

// Asks again and again while somebody looks, never twice at once.
export class Asking {
  constructor(app, every) { Object.assign(this, { app, every, next: 0 }); }

  update(room) {
    this.room = room;
    if (this.busy || Date.now() < this.next) return;
    this.busy = true;
    this.next = Date.now() + this.every;
    this.ask(room).catch(() => {}).finally(() => { this.busy = false; });
  }

  soon() { this.next = 0; }

  end() {}
}

export class Line extends Asking {
  constructor(app) {
    super(app, 2000);
    this.rows = h('tbody');
    this.none = h('p', { class: 'soft' }, 'Nobody waits.');
    this.table = h('table', {}, h('thead', {}, h('tr', {}, ['Place', 'Ticket', 'Turn in'].map(name => h('th', { scope: 'col' }, name)))), this.rows);
    this.element = panel('Next in line', this.none, this.table);
  }

  async ask(room) {
    const { visitors } = await see(at(room, '/line?limit=6'), this.app.tenant(room));
    show(this.none, !visitors.length);
    show(this.table, visitors.length > 0);
    this.rows.replaceChildren(...visitors.map(visitor => h('tr', {}, h('td', {}, count(visitor.position)), h('td', {}, visitor.name ? `${visitor.label} · ${visitor.name}` : visitor.label, classed(visitor) && h('span', { class: 'pill class' }, classed(visitor))),
      h('td', {}, visitor.eta ? span(visitor.eta.seconds) : NONE))));
  }
}

const STANDINGS = {
  waiting: 'Waiting', away: 'Away: nothing heard of them lately', admitted: 'Called, not inside yet', used: 'Entered, or gave the place up',
  active: 'Inside', completed: 'Done', expired: 'Over', unknown: 'Unknown',
};

export class Search {
  constructor(app) {
    this.app = app;
    this.input = h('input', { id: 'visitor', type: 'search', placeholder: 'A-000123', autocomplete: 'off', spellcheck: 'false', required: true });
    this.found = h('div', { class: 'found', 'aria-live': 'polite' });
    const form = h('form', { class: 'row', role: 'search' }, h('label', { class: 'sr', for: 'visitor' }, 'Ticket number'), this.input, h('button', { class: 'quiet' }, 'Find'));
    form.addEventListener('submit', event => {
      event.preventDefault();
      this.find(this.input.value.trim());
    });
    this.element = panel('Find a visitor', form, this.found);
  }

  async find(ticket) {
    try {
      const visitor = await see(at(this.room, `/visitors/${encodeURIComponent(ticket)}`), this.app.tenant(this.room));
      const rows = [['Ticket', visitor.label], classed(visitor) && ['Class', classed(visitor)], visitor.name && ['Name', visitor.name], visitor.slot && ['Slot', visitor.slot], ['Reference', visitor.queue_ref], ['Standing', STANDINGS[visitor.status] + (visitor.reason ? ` (${visitor.reason})` : '')],
        visitor.position != null && ['Place', count(visitor.position)], visitor.eta && ['Turn in', span(visitor.eta.seconds)]].filter(Boolean);
      const over = ['completed', 'expired'].includes(visitor.status);
      const again = () => this.find(ticket);
      // A node does not know of everybody whose turn has come whether they are inside: the line says.
      const inside = ['active', 'used', 'admitted'].includes(visitor.status);
      const take = !over && this.app.may('operator') && h('div', { class: 'verbs' }, inside && steering(this.app, this.room, visitor.label, again),
        h('button', { type: 'button', class: 'danger small', onclick: () => revoke(this.app, this.room, visitor.label, again) }, 'Revoke …'));
      this.found.replaceChildren(h('dl', { class: 'settings' }, rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))), take || '');
    } catch (refused) {
      this.found.replaceChildren(h('p', { class: 'soft' }, refused.status === 404 ? `Nobody here has the ticket ${ticket}.` : refused.message));
    }
  }

  update(room) { this.room = room; }

  end() {}
}

const TOLD = 40;

// What happens, as it happens: too much to be read out, so nobody is made to hear it.
export class Ticker {
  constructor(app) {
    this.app = app;
    this.list = h('ol', { class: 'ticker', tabindex: 0, 'aria-label': 'What happens' });
    this.state = h('p', { class: 'soft' }, 'Listening …');
    this.element = panel('As it happens', this.state, this.list);
  }

  update(room) {
    if (this.stop) return;
    this.stop = listen(at(room, '/events'), {
      tenant: this.app.tenant(room),
      state: up => set(this.state, up ? 'Nothing yet.' : 'Not connected.'),
      on: (name, data) => this.tell(name, data),
    });
  }

  tell(name, data) {
    const said = event(name, data);
    if (!said) return;
    this.state.hidden = true;
    const [what, more] = said;
    this.list.prepend(h('li', { class: name }, h('time', {}, clock(Date.now())), h('span', {}, what), h('span', { class: 'soft' }, more)));
    while (this.list.children.length > TOLD) this.list.lastChild.remove();
  }

  end() { this.stop?.(); }
}

export class Audit extends Asking {
  constructor(app) {
    super(app, 5000);
    this.list = h('ol', { class: 'audit' });
    this.none = h('p', { class: 'soft' }, 'Nothing was changed yet.');
    this.element = panel('Changes', this.none, this.list);
    this.element.hidden = !app.can('get', '/v1/audit');
  }

  async ask(room) {
    if (this.element.hidden) return;
    const { entries } = await see('/v1/audit?limit=100', this.app.tenant(room));
    const ours = entries.filter(entry => entry.event_id === room.event_id || entry.event_id === room.id).slice(0, 8);
    show(this.none, !ours.length);
    this.list.replaceChildren(...ours.map(entry => h('li', {},
      h('span', {}, h('b', {}, entry.action), ' ', h('span', { class: 'soft' }, Object.entries(entry.parameters || {}).map(pair => pair.map(part => (typeof part === 'object' ? JSON.stringify(part) : part)).join(' ')).join(', '))),
      h('span', { class: 'soft' }, `${entry.admin_id} · ${moment(Date.parse(entry.at))}`))));
  }
}
