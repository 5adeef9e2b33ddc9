// The way in: a key becomes a session. The key goes in a body and nowhere else, and is forgotten at once.

const form = document.getElementById('login');
const field = document.getElementById('key');
const said = document.getElementById('said');
const button = form.querySelector('button');

const SAID = {
  401: 'This key is not known here.',
  403: 'The browser did not say that this page asks. Open it at the address it is served from.',
};

form.addEventListener('submit', async event => {
  event.preventDefault();
  button.disabled = true;
  said.textContent = '';
  try {
    const response = await fetch('/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: field.value }),
    });
    if (response.ok) {
      location.reload();
      return;
    }
    const wait = Number(response.headers.get('retry-after'));
    said.textContent = response.status === 429
      ? `Too many wrong keys came from this address. Wait ${wait || 60} seconds.`
      : SAID[response.status] || `The node answers ${response.status}.`;
  } catch {
    said.textContent = 'The node can’t be reached.';
  }
  field.value = '';
  field.focus();
  button.disabled = false;
});
