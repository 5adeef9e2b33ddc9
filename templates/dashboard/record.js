// What a room did in the last hour: minutes as the node remembers them, seconds as this page saw them.
//
// Owns the joining of the two. Where the node has no history, the page's own is all there is, and begins when it was opened.

const HOUR = 3600000;
const MINUTE = 60000;
// Every second for so long, then one of ten: an hour of a hundred rooms must fit into a browser.
const FINE = 2 * MINUTE;
const COARSE = 10000;
// Over less than this, "a minute" would be a guess.
const LEAST = 10000;

// The minute's name of what the page sees as a total.
const TOTALS = {
  joins: 'joined_total', entries: 'admitted_total', no_shows: 'no_show_total', drop_outs: 'dropped_total',
};
const LEVELS = ['waiting', 'active', 'admitted', 'rate_set', 'rate_reached', 'average_wait_seconds'];

export class Record {
  constructor() {
    this.minutes = [];
    this.seen = [];
    this.remembers = false;
  }

  // A room as it is now.
  note(room) {
    const at = Date.parse(room.server_time);
    const last = this.seen.at(-1);
    if (last && at <= last.at) return;
    if (last && room.epoch !== last.epoch) this.seen = [];
    const sample = { at, epoch: room.epoch };
    for (const name of [...LEVELS, ...Object.values(TOTALS)]) sample[name] = room[name];
    this.seen.push(sample);
    this.thin(at);
  }

  thin(now) {
    // What has just become old: it stays if the one kept before it is far enough away.
    const turned = this.seen.findIndex(sample => sample.at > now - FINE);
    if (turned > 1 && this.seen[turned - 1].at - this.seen[turned - 2].at < COARSE) this.seen.splice(turned - 1, 1);
    while (this.seen.length && this.seen[0].at < now - HOUR) this.seen.shift();
  }

  // The node's own minutes, oldest first.
  learn(rows) {
    this.remembers = true;
    this.minutes = rows.map(row => ({ ...row, begins: Date.parse(row.at) }));
  }

  // From when to when there is something to show: an hour, or since the page was opened, and not less than this.
  window(least = MINUTE) {
    const to = this.seen.at(-1)?.at ?? Date.now();
    const first = this.remembers ? to - HOUR : this.seen[0]?.at ?? to;
    return [Math.max(to - HOUR, Math.min(first, to - least)), to];
  }

  // Pairs of a time and a value.
  series(name) {
    const now = this.seen.at(-1)?.at ?? Date.now();
    const live = (TOTALS[name] ? this.flow(TOTALS[name]) : this.seen.map(sample => [sample.at, sample[name]]))
      .filter(([, value]) => value != null);
    const covered = new Set(live.map(([at]) => Math.floor(at / MINUTE)));
    const minutes = this.minutes
      .filter(row => row.begins > now - HOUR - MINUTE && row.begins + MINUTE <= now)
      .filter(row => row[name] != null && !covered.has(Math.floor(row.begins / MINUTE)))
      .map(row => [row.begins + MINUTE / 2, row[name]]);
    return minutes.length ? [...minutes, ...live].sort((one, other) => one[0] - other[0]) : live;
  }

  // What a total grew by in the minute before each moment.
  flow(total) {
    const points = [];
    for (let from = 0, upto = 0; upto < this.seen.length; upto += 1) {
      const now = this.seen[upto];
      while (from < upto && this.seen[from + 1].at <= now.at - MINUTE) from += 1;
      const before = this.seen[from];
      const time = now.at - before.at;
      if (time >= LEAST) points.push([now.at, Math.max(0, now[total] - before[total]) * MINUTE / time]);
    }
    return points;
  }

  latest(name) {
    return this.series(name).at(-1)?.[1];
  }
}
