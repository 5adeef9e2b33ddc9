// The page of the draw: checks in the visitor's own browser that the seed is the promised one, and which place it
// gives to a number. The arithmetic is specified in src/line/shuffle.rs; `anteroom draw verify` does the same.

const VERDICTS = ['soon', 'good', 'other-seed', 'other-place', 'unpromised', 'outside', 'failed'];
// A timer can't be set to much more.
const DAY_MS = 86400000;
const element = id => document.getElementById(id);
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
const unhex = text => Uint8Array.from(text.match(/../g), pair => parseInt(pair, 16));
const sha256 = async bytes => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

// Where the index-th of so many was drawn to, all of them BigInt and from 0.
async function permuted(seed, count, index) {
  let bits = 2n;
  while (1n << bits < count) bits += 1n;
  const high = bits / 2n;
  const low = bits - high;
  const rounds = bits < 12n ? 24 : 10;
  const mask = bits => (1n << bits) - 1n;
  const mixed = async (round, part) => {
    const bytes = new Uint8Array(41);
    bytes.set(seed);
    bytes[32] = round;
    new DataView(bytes.buffer).setBigUint64(33, part);
    return new DataView((await sha256(bytes)).buffer).getBigUint64(0);
  };
  let x = index;
  do {
    for (let round = 0; round < rounds; round += 1) {
      if (round % 2) x ^= await mixed(round, x >> low) & mask(low);
      else x ^= (await mixed(round, x & mask(low)) & mask(high)) << low;
    }
  } while (x >= count);
  return x;
}

const drew = (draw, number) => BigInt(draw.after) < number && number <= BigInt(draw.upto);

// The place of a number of the draw, from 1: for whoever stood at the head of the line the one that is published, for whoever
// was not drawn none. The others are drawn to the places that are left, by which of those who are left they are.
async function placeOf(draw, number) {
  const { head = [], kept = [] } = draw;
  const own = head.find(([theirs]) => BigInt(theirs) === number);
  if (own) return BigInt(own[1]);
  if (kept.some(theirs => BigInt(theirs) === number)) return undefined;
  const after = BigInt(draw.after);
  const apart = head.map(([theirs]) => theirs).concat(kept);
  const before = apart.filter(theirs => BigInt(theirs) < number).length;
  const count = BigInt(draw.upto) - after - BigInt(apart.length);
  const taken = head.map(([, place]) => BigInt(place)).sort((one, other) => one < other ? -1 : 1);
  let place = 1n + await permuted(unhex(draw.seed), count, number - after - 1n - BigInt(before));
  for (const one of taken) if (one <= place) place += 1n;
  return place;
}

// The promise that this browser was shown first for an opening: what is published after it must be that one, whatever is said
// then to have been promised. A browser that keeps nothing has to believe it.
const memory = opensAt => `anteroom-draw ${document.body.dataset.anteroomRoom} ${opensAt}`;
function remembered(opensAt, hash) {
  try {
    const found = localStorage.getItem(memory(opensAt));
    if (!found && hash) localStorage.setItem(memory(opensAt), hash);
    return found ?? hash;
  } catch {
    return hash;
  }
}

// What is to be said of a number and a place; without a place, of the number alone.
async function verdict(draw, number, place) {
  const hash = hex(await sha256(unhex(draw.seed)));
  const promised = remembered(draw.opens_at) ?? draw.commitment;
  if ([draw.commitment, promised].some(one => one && one !== hash)) return 'other-seed';
  const found = drew(draw, number) ? await placeOf(draw, number) : undefined;
  if (found === undefined) return 'other-place';
  if (place !== undefined && place !== found) return 'other-place';
  return draw.commitment ? 'good' : 'unpromised';
}

const say = word => VERDICTS.forEach(id => { element(id).hidden = id !== word; });

// "A-000123" and "123" are the same number.
const typed = id => {
  const digits = /(\d+)\s*$/.exec(element(id).value);
  return digits ? BigInt(digits[1]) : undefined;
};

let draws = [];
// The last promise, and whether its opening is still ahead.
let promise;
let ahead = false;
// The asker's own number, if it is in no draw and will be in none that is ahead.
let outside;
// Nobody is in two draws. Who is in none may be of the one that is ahead; if none is, the last one is the measure.
const drawOf = number =>
  draws.findLast(draw => number !== undefined && drew(draw, number)) || (ahead ? undefined : draws.at(-1));

async function check() {
  const [number, place] = [typed('number'), typed('place')];
  const draw = drawOf(number);
  const [kid, hash] = draw ? [draw.kid, remembered(draw.opens_at) ?? draw.commitment] : [promise?.kid, promise?.hash];
  element('promise').textContent = hash ? `${kid}: ${hash}` : '–';
  element('seed').textContent = draw ? draw.seed : '–';
  if (number !== undefined && number === outside) return say('outside');
  if (!draw) return say('soon');
  if (number === undefined) return say();
  // What is no number is no place either.
  const given = element('place').value.trim() ? place ?? 0n : undefined;
  const word = await verdict(draw, number, given);
  if (['good', 'unpromised'].includes(word) && given === undefined) element('place').value = await placeOf(draw, number);
  say(word);
}

const checked = () => check().catch(() => say('failed'));

async function load() {
  const room = encodeURIComponent(document.body.dataset.anteroomRoom);
  const response = await fetch(`/.anteroom/v1/draw?event_id=${room}`, { cache: 'no-store' });
  if (!response.ok) throw new Error(response.status);
  const told = await response.json();
  const { you } = told;
  ({ draws, commitment: promise } = told);
  ahead = Boolean(promise) && promise.opens_at === told.opens_at;
  if (ahead) remembered(promise.opens_at, promise.hash);
  outside = you && !you.place && !you.drawn_later && !draws.some(draw => drew(draw, BigInt(you.number))) ? BigInt(you.number) : undefined;
  if (you && !element('number').value) element('number').value = you.number;
  if (you?.place && typed('number') === BigInt(you.number) && !element('place').value) element('place').value = you.place;
  await check();
  // The seed comes with the opening, and what is next with the end; not everybody asks for it at once.
  const next = told.opens_at ?? told.closes_at;
  if (next && !draws.some(draw => draw.opens_at === next)) {
    const left = Math.max(Date.parse(next) - Date.parse(told.server_time), 0);
    setTimeout(loaded, Math.min(left + 2000 + Math.random() * 8000, told.opens_at ? 60000 : DAY_MS));
  }
}

const loaded = () => load().catch(() => say('failed'));

element('check').addEventListener('submit', event => { event.preventDefault(); checked(); });
loaded();
