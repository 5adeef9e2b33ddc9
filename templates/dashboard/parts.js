// What pages are made of: elements, a dialog that asks, words that are said once.
//
// Texts are set as texts, never as HTML, and styles by class, so that the page's policy needs no exception.

const SVG = 'http://www.w3.org/2000/svg';

function furnish(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(child => child != null && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => furnish(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) => furnish(document.createElementNS(SVG, tag), properties, children);

// Only what changes is touched: a reader's selection and a screen reader's place stay.
export function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function show(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

// A number with a name, and perhaps a word about it.
export function tile(name, kind = '') {
  const value = h('dd', { class: 'value' });
  const more = h('dd', { class: 'more' });
  const element = h('div', { class: `tile ${kind}` }, h('dt', {}, name), value, more);
  return { element, put(text, note = '') { set(value, text); set(more, note); } };
}

export function panel(title, ...children) {
  const id = `p-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return h('section', { class: 'panel', 'aria-labelledby': id }, h('h2', { id }, title), children);
}

const $ = id => document.getElementById(id);

let last = 0;

// When something was last said.
export const said = () => last;

// For those who can't see it, and for those who can.
export function say(text, kind = 'ok') {
  last = Date.now();
  $('heard').textContent = text;
  const toast = h('p', { class: 'toast', 'data-kind': kind, 'aria-hidden': 'true' }, text);
  $('toasts').append(toast);
  setTimeout(() => toast.remove(), 6000);
}

// Asks before something is done to people. `fields` are what has to be known; `act(values)` does it, and what it says
// is said; what it throws is shown, and the dialog stays.
export function ask({ title, text, confirm, danger, fields = [], act }) {
  const dialog = $('dialog');
  const error = h('p', { class: 'said', role: 'alert' });
  const cancel = h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel');
  const done = h('button', { class: danger ? 'danger' : 'primary' }, confirm);
  const inputs = fields.map(field);
  const form = h('form', { method: 'dialog' },
    h('h2', { id: 'dialog-title' }, title), text && h('p', { class: 'soft' }, text),
    inputs.map(input => input.element), error, h('div', { class: 'row end' }, cancel, done));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const values = Object.fromEntries(inputs.map(input => [input.name, input.control.value.trim()]));
    done.disabled = true;
    error.textContent = '';
    try {
      say(await act(values));
      dialog.close();
    } catch (refused) {
      error.textContent = refused.name === 'TimeoutError' ? 'The node did not answer in time: look before you ask again.' : refused.message;
    }
    done.disabled = false;
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  (inputs[0]?.control || (danger ? cancel : done)).focus();
}

function field({ name, label, hint, options, long, ...rest }) {
  const id = `field-${name}`;
  const about = hint ? { 'aria-describedby': `${id}-hint` } : {};
  const properties = { id, name, required: true, autocomplete: 'off', ...about, ...rest };
  let control;
  if (options) {
    const choices = options.map(([value, text]) => h('option', { value, selected: value === rest.value }, text));
    control = h('select', { id, name, ...about }, choices);
  } else if (long) {
    control = h('textarea', { rows: 4, ...properties }, rest.value || '');
  } else {
    control = h('input', properties);
  }
  const note = hint && h('p', { id: `${id}-hint`, class: 'soft small' }, hint);
  return { name, control, element: h('div', { class: 'field' }, h('label', { for: id }, label), control, note) };
}
