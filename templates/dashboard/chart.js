// Charts, drawn by hand: lines over time, with what they say now beside their names.
//
// A chart is measured, then drawn to the pixel, and again when its size or its data change. Under the pointer it tells of
// that moment. Lines differ by dash as well as by colour.

import { clock, compact, minute } from '/dashboard/words.js';
import { h, set, svg } from '/dashboard/parts.js';

// A longer silence is a hole, and no line is drawn over it.
const HOLE = 150000;
const STEPS = [15, 30, 60, 120, 300, 600, 900].map(seconds => seconds * 1000);
// Around the lines, for what is written there: in sixteenths of a rem, so that it grows with the letters.
const EDGE = { top: 8, bottom: 20, left: 48, right: 10 };

function edges() {
  const grown = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  return Object.fromEntries(Object.entries(EDGE).map(([side, width]) => [side, width * grown]));
}

// 0 and the lines above it, about three, at numbers people count in: those of a clock, if it is about time.
const CLOCK = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800];
function ticks(most, whole, timed) {
  if (!most) return [0, 1];
  const raw = most / 3;
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = power * [1, 2, 5, 10].find(times => times * power >= raw * 0.999);
  if (whole) step = Math.max(1, Math.round(step));
  if (timed) step = CLOCK.find(seconds => seconds >= raw) || step;
  const top = Math.max(1, Math.ceil(most / step - 0.001));
  return Array.from({ length: top + 1 }, (_, at) => at * step);
}

function path(points, x, y, floor) {
  let line = '';
  let area = '';
  let last;
  let begun;
  const close = () => { if (begun != null) area += `L${last} ${floor}L${begun} ${floor}Z`; };
  let before = -Infinity;
  for (const [at, value] of points) {
    const [px, py] = [x(at).toFixed(1), y(value).toFixed(1)];
    if (at - before > HOLE) {
      close();
      begun = px;
      line += `M${px} ${py}`;
      area += `M${px} ${py}`;
    } else {
      line += `L${px} ${py}`;
      area += `L${px} ${py}`;
    }
    [last, before] = [px, at];
  }
  close();
  return [line, area];
}

// The last value at or before a moment, if it is near.
export function valueAt(points, at) {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= at) low = middle + 1; else high = middle;
  }
  const found = points[low - 1];
  return found && at - found[0] <= HOLE ? found[1] : null;
}

export class Chart {
  // `lines`: { name, label, colour, dash, area }; `say` writes a value; `whole`: there are no halves; `timed`: it is
  // about seconds.
  constructor({ title, unit, lines, say = compact, whole = false, timed = false, wide = false, empty = 'Nothing to show yet' }) {
    Object.assign(this, { title, unit, say, whole, timed });
    this.lines = lines.map(line => {
      const value = h('b');
      const key = h('i', { class: `key ${line.colour} ${line.dash || ''}`, 'aria-hidden': 'true' });
      return { ...line, value, item: h('li', {}, key, line.label, ' ', value), drawn: svg('path', { class: `line ${line.colour} ${line.dash || ''}` }), filled: svg('path', { class: `area ${line.colour}` }), dot: svg('circle', { class: `dot ${line.colour}`, r: 3.5 }) };
    });
    this.grid = svg('g', { class: 'grid' });
    this.cross = svg('line', { class: 'cross', y1: EDGE.top });
    this.picture = svg('svg', { role: 'img' }, this.grid, this.cross,
      this.lines.filter(line => line.area).map(line => line.filled), this.lines.map(line => line.drawn), this.lines.map(line => line.dot));
    this.when = h('span', { class: 'when' }, unit);
    this.note = h('p', { class: 'hollow' }, empty);
    this.element = h('figure', { class: wide ? 'chart wide' : 'chart' },
      h('figcaption', {}, h('h3', {}, title), this.when), h('ul', { class: 'legend' }, this.lines.map(line => line.item)),
      h('div', { class: 'plot' }, this.picture, this.note));
    this.picture.addEventListener('pointermove', event => this.point(event.clientX - this.picture.getBoundingClientRect().left));
    this.picture.addEventListener('pointerleave', () => this.point(null));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.picture);
  }

  // `[from, to]` and the points of each line, by its name.
  put(window, series) {
    this.window = window;
    this.series = series;
    this.draw();
  }

  draw() {
    const { width, height } = this.picture.getBoundingClientRect();
    if (!this.window || width < 60) return;
    const [from, to] = this.window;
    const edge = edges();
    const points = this.lines.map(line => (this.series[line.name] || []).filter(([at]) => at >= from));
    const some = points.some(of => of.length > 0);
    this.note.hidden = some;
    this.picture.classList.toggle('bare', !some);
    const most = Math.max(0, ...points.flat().map(([, value]) => value));
    const marks = ticks(most, this.whole, this.timed);
    const floor = height - edge.bottom;
    const x = at => edge.left + (at - from) / (to - from) * (width - edge.left - edge.right);
    const y = value => floor - value / marks.at(-1) * (floor - edge.top);
    this.places = { x, from, to, left: edge.left, right: width - edge.right, floor };
    this.rule(marks, some, x, y);
    this.lines.forEach((line, at) => {
      const [drawn, filled] = path(points[at], x, y, floor);
      line.drawn.setAttribute('d', drawn);
      if (line.area) line.filled.setAttribute('d', filled);
      const last = points[at].at(-1);
      line.dot.setAttribute('display', last ? 'inline' : 'none');
      if (last) {
        line.dot.setAttribute('cx', x(last[0]).toFixed(1));
        line.dot.setAttribute('cy', y(last[1]).toFixed(1));
      }
      line.points = points[at];
      // What is not known is not named beside what is.
      line.item.hidden = some && !last;
    });
    this.tell();
  }

  rule(marks, some, x, y) {
    const { from, to, left, right, floor } = this.places;
    const letter = left / EDGE.left;
    const room = (right - left) / (72 * letter);
    const step = STEPS.find(step => (to - from) / step <= room) || STEPS.at(-1) * 2;
    const parts = marks.flatMap(mark => [
      svg('line', { x1: left, x2: right, y1: y(mark), y2: y(mark) }),
      some && svg('text', { x: left - 7 * letter, y: y(mark) + 4 * letter, class: 'y' }, this.say(mark)),
    ]);
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const close = x(at) - left < 16 * letter || right - x(at) < 18 * letter;
      if (!close) parts.push(svg('text', { x: x(at), y: floor + 16 * letter, class: 'x' }, (step < 60000 ? clock : minute)(at)));
    }
    this.grid.replaceChildren(...parts.filter(Boolean));
  }

  // Where the pointer is, or nowhere.
  point(px) {
    if (!this.places) return;
    const { from, to, left, right } = this.places;
    const inside = px != null && px >= left && px <= right;
    this.at = inside ? from + (px - left) / (right - left) * (to - from) : null;
    this.tell();
  }

  // The values at the pointer, or the last ones.
  tell() {
    const { x, floor } = this.places;
    this.cross.setAttribute('display', this.at == null ? 'none' : 'inline');
    if (this.at != null) {
      for (const name of ['x1', 'x2']) this.cross.setAttribute(name, x(this.at));
      this.cross.setAttribute('y2', floor);
    }
    set(this.when, this.at == null ? this.unit : clock(this.at));
    for (const line of this.lines) {
      const value = this.at == null ? line.points.at(-1)?.[1] : valueAt(line.points, this.at);
      set(line.value, this.say(value));
    }
    const said = this.lines.map(line => {
      const values = line.points.map(([, value]) => value);
      return values.length ? `${line.label}: now ${this.say(values.at(-1))}, at most ${this.say(Math.max(...values))}` : `${line.label}: nothing yet`;
    });
    this.picture.setAttribute('aria-label', `${this.title}, ${this.unit}. ${said.join('. ')}`);
  }

  end() {
    this.watch.disconnect();
  }
}

// A line without anything around it, for a card.
export class Spark {
  constructor(colour) {
    this.filled = svg('path', { class: `area ${colour}` });
    this.drawn = svg('path', { class: `line ${colour}`, 'vector-effect': 'non-scaling-stroke' });
    this.element = svg('svg', { class: 'spark', viewBox: '0 0 100 30', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, this.filled, this.drawn);
  }

  put([from, to], points) {
    const most = Math.max(1, ...points.map(([, value]) => value));
    const [drawn, filled] = path(points.filter(([at]) => at >= from), at => (at - from) / (to - from) * 100, value => 29 - value / most * 27, 30);
    this.drawn.setAttribute('d', drawn);
    this.filled.setAttribute('d', filled);
  }
}
