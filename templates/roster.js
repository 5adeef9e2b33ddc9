// Who plays and who waits, by name, on the pages of rooms whose visitors have names. client.js loads it when there is a list.

const fill = (name, people, own) => document.querySelectorAll(`[data-anteroom="${name}"]`).forEach(element =>
  element.replaceChildren(...people.map(person => {
    const [item, mark] = ['li', 'b'].map(tag => document.createElement(tag));
    item.className = person.label === own ? 'me' : person.status || '';
    mark.textContent = person.slot || person.position || '✓';
    // As text: a name is a stranger's.
    item.append(mark, person.name);
    return item;
  })));

// Asks for the list and shows it; `own` is the ticket of whoever looks.
export async function show(eventId, own) {
  const response = await fetch(`/.anteroom/v1/queue/roster?event_id=${encodeURIComponent(eventId)}`, { cache: 'no-store' });
  if (!response.ok) return;
  const { players, waiting } = await response.json();
  fill('players', players, own);
  fill('line', waiting, own);
}
