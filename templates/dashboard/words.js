// How things are said: numbers, times, states.

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const fraction = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const brief = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
// Twenty-four hours: on a wall, and under a chart, there is no place for more.
const DAY = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const hour = new Intl.DateTimeFormat(undefined, DAY);
const second = new Intl.DateTimeFormat(undefined, { ...DAY, second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { ...DAY, month: 'short', day: 'numeric' });

export const NONE = '–';

const given = say => value => (value == null || Number.isNaN(value) ? NONE : say(value));

export const count = given(value => number.format(value));
export const compact = given(value => (value < 10000 ? figure(value) : brief.format(value)));
export const figure = given(value => (value >= 100 ? number : fraction).format(value));
export const clock = at => second.format(at);
export const minute = at => hour.format(at);
export const moment = at => day.format(at);
export const millis = given(value => (value < 1000 ? `${number.format(value)} ms` : `${fraction.format(value / 1000)} s`));

// 45 s, 12 min, 1 h 20 min, 3 d 4 h.
export const span = given(seconds => {
  if (seconds < 60) return `${number.format(Math.max(0, seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
});

// What is left of a time, to be watched: 0:45, 12:34, 1:02:03; 3 d 4 h.
export function countdown(seconds) {
  if (seconds >= 172800) return span(seconds);
  const [hours, minutes, rest] = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(Math.floor);
  const two = value => String(value).padStart(2, '0');
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

// Seconds from a room's now until a moment.
export const until = (room, at) => Math.max(0, Math.ceil((Date.parse(at) - Date.parse(room.server_time)) / 1000));

// A setting, as it was written: 150 s, and not 3 min.
export const exact = seconds => (seconds % 60 ? `${number.format(seconds)} s` : span(seconds));

// Turns: 5/s, 12/min.
const seldom = value => value > 0 && value < 1;
export const rate = given(value => (seldom(value) ? `${figure(value * 60)}/min` : `${figure(value)}/s`));

// What is reached of what is set, in the unit of what is set.
export function reached(room) {
  const { rate_set: aim, rate_reached: is } = room;
  if (aim == null) return rate(is);
  return `${figure(seldom(aim) ? is * 60 : is)} of ${rate(aim)}`;
}

export const people = n => (n === 1 ? '1 person' : `${count(n)} people`);

// When a schedule opens a room, and how.
function opening(room) {
  if (!room.opens_at) return 'It does not open again.';
  return `Opens ${moment(Date.parse(room.opens_at))}, in ${countdown(until(room, room.opens_at))}${room.draw ? ', with a draw' : ''}.`;
}

// What a room is, in a word, a colour and a sentence. The worst first.
export function condition(room) {
  const age = room.view_age_seconds;
  if (room.store !== 'connected') {
    return ['Store away', 'bad', `The store does not answer: these figures are ${age == null ? 'of none' : `${span(age)} old`}. Visitors keep their places.`];
  }
  if (room.mode === 'closed') return ['Closed', 'off', 'Nobody joins and nobody enters.'];
  if (room.mode === 'drain') return ['Draining', 'warn', 'Who is in line gets in; nobody new joins.'];
  if (room.paused) return ['Paused', 'warn', 'Nobody is called but by hand. Nobody loses their place.'];
  if (room.phase === 'prequeue') return ['Pre-queue', 'warn', `Numbers are given, and nobody is let in. ${opening(room)}`];
  if (room.phase === 'closed') return ['Closed by schedule', 'off', `Nobody joins and nobody enters. ${opening(room)}`];
  if (room.mode === 'hold') return ['Held', 'warn', 'Everybody waits until they are released by hand.'];
  if (room.mode === 'bypass') return ['Bypassed', 'off', 'Everybody goes straight in.'];
  if (room.mode === 'shadow') return ['Shadow', 'off', 'The line is counted, and nobody waits.'];
  if (room.adaptive?.rate === 0) return ['Stopped', 'bad', `The origin is not well. ${room.adaptive.reason}`];
  if (room.rate_set === 0) return ['By hand', 'warn', 'The rate is 0: turns come by hand.'];
  return ['Open', 'ok', room.closes_at ? `Closes ${moment(Date.parse(room.closes_at))}, in ${countdown(until(room, room.closes_at))}, by its schedule.` : ''];
}

// A visitor's class, or what is known of it; nothing for nobody's in particular.
export const classed = ({ class: name, class_rank: rank }) => name ?? (rank == null ? null : `rank ${rank}`);

// What happened, in a few words.
export function event(name, data) {
  const who = data.visitor?.label;
  switch (name) {
    case 'enqueued': return [`${count(data.count)} joined`, ''];
    case 'called': {
      const labels = data.visitors.slice(0, 3).map(visitor => visitor.label);
      const more = data.visitors.length > 3 ? ' …' : '';
      return [`${count(data.count)} called`, labels.join(', ') + more];
    }
    case 'admitted': return [`${count(data.count)} entered`, ''];
    case 'completed': return [`${who} is done`, ''];
    case 'expired': return [`${who} is out`, data.reason];
    case 'reset': return ['The room was reset', ''];
    case 'missed': return ['Too much happened to tell all of it', ''];
    default: return null;
  }
}
