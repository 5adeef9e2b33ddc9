// The verbs: what an operator does to a room. Each asks first, with what it does to whom.
//
// A verb is there if the node has its call and the key its role. What is refused nevertheless is said in the dialog.

import { ask, h, panel, say, show } from '/dashboard/parts.js';
import { count, people, rate } from '/dashboard/words.js';
import { act } from '/dashboard/wire.js';

const at = (room, verb) => `/v1/rooms/${encodeURIComponent(room.id)}${verb ? `/${verb}` : ''}`;
const post = (app, room, verb, body) => act('POST', at(room, verb), body, app.tenant(room));
const patch = (app, room, body) => act('PATCH', at(room), body, app.tenant(room));

const MODES = [
  ['auto', 'auto: who is called enters'], ['hold', 'hold: everybody waits until released by hand'], ['drain', 'drain: the line empties, nobody new joins'],
  ['closed', 'closed: nobody joins, nobody enters'], ['bypass', 'bypass: everybody goes straight in'], ['shadow', 'shadow: counted, nobody waits'],
];
const RATE = { pattern: '[0-9]+(\\.[0-9]+)?/(s|m|h)|0', placeholder: '5/s', hint: '5/s, 300/m or 1000/h' };

const VERBS = [
  {
    name: 'pause', label: 'Pause', kind: 'primary', when: room => !room.paused,
    ask: room => ({ title: `Pause ${room.id}?`, text: `${people(room.waiting)} wait. Nobody is called until you resume, nobody loses their place, and who is inside stays.`, confirm: 'Pause' }),
    act: async (app, room) => { await post(app, room, 'pause'); return `${room.id} is paused.`; },
  },
  {
    name: 'resume', label: 'Resume', kind: 'primary', when: room => room.paused,
    ask: room => ({ title: `Resume ${room.id}?`, text: `${people(room.waiting)} wait, and are called ${room.rate_set == null ? 'as seats become free' : `at ${rate(room.rate_set)}`}.`, confirm: 'Resume' }),
    act: async (app, room) => { await post(app, room, 'resume'); return `${room.id} is resumed.`; },
  },
  {
    name: 'release', label: 'Release …',
    ask: room => ({ title: 'Release by hand', text: `${people(room.waiting)} wait. The next ones are called at once, whatever rate and pause say, and never beyond the seats.`, confirm: 'Release', fields: [{ name: 'count', label: 'How many', type: 'number', min: 1, max: 1000000, value: 10 }] }),
    act: async (app, room, { count: many }) => {
      const { released, called } = await post(app, room, 'release', { count: Number(many) });
      const names = called?.length > 1 ? `: ${called[0].label} to ${called.at(-1).label}` : called?.length ? `: ${called[0].label}` : '';
      return released ? `${people(released)} called${names}.` : 'Nobody could be called: nobody waits, or no seat is free.';
    },
  },
  {
    name: 'boost', label: 'Boost …',
    ask: () => ({ title: 'Boost for a while', text: 'A higher rate, which ends by itself.', confirm: 'Boost', fields: [{ name: 'rate', label: 'Rate', ...RATE }, { name: 'minutes', label: 'For how many minutes', type: 'number', min: 1, max: 1440, value: 5 }] }),
    act: async (app, room, { rate: to, minutes }) => { await post(app, room, 'boost', { rate: to, seconds: Number(minutes) * 60 }); return `${room.id} goes at ${to} for ${minutes} minutes.`; },
  },
  {
    name: 'rate', label: 'Rate …', patch: true,
    ask: room => ({ title: 'Change the rate', text: `It is ${room.rate_set == null ? 'not limited' : rate(room.rate_set)} now, on all nodes, and ${people(room.waiting)} wait.`, confirm: 'Change', fields: [{ name: 'rate', label: 'Rate', ...RATE }] }),
    act: async (app, room, { rate: to }) => { await patch(app, room, { rate: to }); return `The rate of ${room.id} is ${to}.`; },
  },
  {
    name: 'seats', label: 'Seats …', patch: true,
    ask: room => ({ title: 'Change the seats', text: `${count(room.active)} are inside now. Fewer seats throw nobody out.`, confirm: 'Change', fields: [{ name: 'seats', label: 'Seats', type: 'number', min: 1, value: room.max_active ?? '' }] }),
    act: async (app, room, { seats }) => { await patch(app, room, { max_active: Number(seats) }); return `${room.id} has ${count(Number(seats))} seats.`; },
  },
  {
    name: 'mode', label: 'Mode …', patch: true,
    ask: room => ({ title: 'Change the mode', text: `${people(room.waiting)} wait, ${count(room.active)} are inside.`, confirm: 'Change', fields: [{ name: 'mode', label: 'Mode', options: MODES, value: room.mode }] }),
    act: async (app, room, { mode }) => { await patch(app, room, { mode }); return `${room.id} is in the mode ${mode}.`; },
  },
  {
    name: 'message', label: 'Message …',
    ask: room => ({ title: 'A message to those who wait', text: `${people(room.waiting)} read it on their page within seconds. Empty: none.`, confirm: 'Show it', fields: [{ name: 'text', label: 'Message', long: true, required: false, maxlength: 500, value: room.message || '' }] }),
    act: async (app, room, { text }) => { await post(app, room, 'message', { text }); return text ? 'The message is shown.' : 'There is no message any more.'; },
  },
  {
    name: 'drain', label: 'Drain …', kind: 'danger',
    ask: room => ({ title: `Drain ${room.id}?`, text: `${people(room.waiting)} in line still get in. Nobody new joins.`, confirm: 'Drain', danger: true }),
    act: async (app, room) => { await post(app, room, 'drain'); return `${room.id} drains.`; },
  },
  {
    name: 'revoke', label: 'Revoke …', kind: 'danger',
    ask: () => ({ title: 'Revoke a visitor', text: 'Their place in line, or their seat, is gone at once and for good.', confirm: 'Revoke', danger: true, fields: [{ name: 'visitor', label: 'Ticket number', placeholder: 'A-000123' }] }),
    act: async (app, room, { visitor }) => revoked(await post(app, room, 'revoke', { visitor })),
  },
  {
    name: 'reset', label: 'Reset …', kind: 'danger', role: 'admin',
    ask: room => ({ title: `Reset ${room.id}?`, text: `${people(room.waiting)} lose their place and ${count(room.active)} inside their seat: every ticket and pass is void. There is no way back.`, confirm: 'Reset', danger: true, fields: [{ name: 'name', label: `Type ${room.id} to confirm`, value: '' }] }),
    act: async (app, room, { name }) => {
      if (name !== room.id) throw new Error(`That is not ${room.id}.`);
      await post(app, room, 'reset');
      return `${room.id} begins anew.`;
    },
  },
];

const revoked = ({ revoked: taken, visitor }) => (taken ? `${visitor.label} is out.` : `${visitor.label} had neither a place nor a seat.`);

export class Verbs {
  constructor(app) {
    const there = verb => (verb.patch ? app.can('patch', '/v1/rooms/{id}') : app.can('post', `/v1/rooms/{id}/${verb.name}`));
    this.buttons = VERBS.filter(verb => there(verb) && app.may(verb.role || 'operator')).map(verb => {
      const button = h('button', { type: 'button', class: verb.kind || 'quiet', 'data-verb': verb.name, onclick: () => this.run(app, verb) }, verb.label);
      return [verb, button];
    });
    const text = this.buttons.length ? [] : h('p', { class: 'soft' }, 'Your key may look, and not act.');
    this.element = panel('Steer', text, h('div', { class: 'verbs' }, this.buttons.map(([, button]) => button)));
  }

  run(app, verb) {
    const { room } = this;
    ask({ ...verb.ask(room), act: values => verb.act(app, room, values) });
  }

  update(room) {
    this.room = room;
    for (const [verb, button] of this.buttons) {
      if (verb.when) show(button, verb.when(room));
      button.disabled = room.store !== 'connected';
    }
  }
}

// The same for somebody who was found.
export function revoke(app, room, visitor, then) {
  ask({
    title: `Revoke ${visitor}?`, text: 'Their place in line, or their seat, is gone at once and for good.', confirm: 'Revoke', danger: true,
    act: async () => {
      const done = revoked(await post(app, room, 'revoke', { visitor }));
      then();
      return done;
    },
  });
}

// What is done to somebody who is inside, beside that.
const STEERS = [
  ['complete', 'Complete …', 'Their visit is over: the seat is free at once, and the next page they open needs a new turn.', 'is done'],
  ['extend', 'Extend …', 'Their session lasts one idle time longer than it would by what they do.', 'has more time'],
  ['requeue', 'Requeue …', 'Their seat is free at once, and they are last in line. Their next page shows the new place.', 'is at the end of the line'],
];

// Their buttons, for somebody who was found.
export function steering(app, room, visitor, then) {
  const there = STEERS.filter(([name]) => app.can('post', `/v1/rooms/{id}/visitors/{visitor}/${name}`));
  return there.map(([name, label, text, came]) => h('button', { type: 'button', class: 'quiet small', 'data-steer': name, onclick: () => ask({
    title: `${label.replace(' …', '')} ${visitor}?`, text, confirm: label.replace(' …', ''),
    act: async () => {
      const { done } = await post(app, room, `visitors/${encodeURIComponent(visitor)}/${name}`);
      then();
      return done ? `${visitor} ${came}.` : `Nothing was done: ${visitor} is not inside.`;
    },
  }) }, label));
}

// What an operator changed is as the configuration has it again.
export async function takeBack(app, room, name, label) {
  try {
    await patch(app, room, { [name]: null });
    say(`${label} is as the configuration has it.`);
  } catch (refused) {
    say(refused.message, 'bad');
  }
}
