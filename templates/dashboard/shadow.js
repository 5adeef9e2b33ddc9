// What would have happened: the report of a room in mode shadow.

import { Asking, at } from '/dashboard/people.js';
import { h, panel, show } from '/dashboard/parts.js';
import { count, figure, moment, span } from '/dashboard/words.js';
import { see } from '/dashboard/wire.js';

export class Shadow extends Asking {
  constructor(app) {
    super(app, 5000);
    this.none = h('p', { class: 'soft' }, 'Nobody has come yet.');
    this.rows = h('dl', { class: 'settings' });
    this.element = panel('Had the room counted', this.none, this.rows);
    this.element.hidden = true;
  }

  update(room) {
    show(this.element, room.mode === 'shadow' && this.app.can('get', '/v1/rooms/{id}/shadow'));
    if (!this.element.hidden) super.update(room);
  }

  async ask(room) {
    const report = await see(at(room, '/shadow'), this.app.tenant(room));
    const share = of => `${count(of)} (${figure(100 * of / report.visitors)} of 100)`;
    const rows = [
      ['Since', report.since && moment(Date.parse(report.since))], ['Came', count(report.visitors)],
      ['Would have waited', share(report.would_have_waited)], ['Would have been refused', share(report.would_have_been_refused)],
      ['Would be waiting', count(report.waiting)],
      ['Longest line', report.longest_line_at && `${count(report.longest_line)}, ${moment(Date.parse(report.longest_line_at))}`],
      ['Half waited at most', span(report.wait_p50_seconds)], ['90 of 100 at most', span(report.wait_p90_seconds)],
      ['Longest wait', span(report.wait_longest_seconds)],
    ].filter(([, value]) => value);
    show(this.none, !report.visitors);
    show(this.rows, report.visitors > 0);
    this.rows.replaceChildren(...rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
  }
}
