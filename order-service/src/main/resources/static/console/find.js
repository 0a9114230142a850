import { get } from './api.js';
import { h } from './dom.js';
import { newId } from './fields.js';
import { viewHref } from './urls.js';

/** The form in the header of every page that opens an order by its id. */
export function findForm() {
  const id = newId('find');
  const input = h('input', {
    id, type: 'search', name: 'order', placeholder: 'Order ID', maxlength: '256', required: true,
    autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none',
  });
  return h(
    'form',
    {
      class: 'find',
      role: 'search',
      'aria-label': 'Find an order',
      on: {
        submit: async (event) => {
          event.preventDefault();
          const wanted = input.value;
          location.hash = await addressOf(wanted);
          input.value = '';
        },
      },
    },
    h('label', { for: id, class: 'visually-hidden' }, 'Find an order by its ID'),
    input,
    h('button', { type: 'submit' }, 'Find'),
  );
}

/** The address of the order with that id or, if there is none, of those whose ids begin with it. */
async function addressOf(id) {
  const others = viewHref('orders', { prefix: id, state: 'ANY' });
  try {
    // By id, so an exact match comes first.
    const { data } = await get('/api/v1/orders', { prefix: id, limit: 1 });
    return data[0]?.orderId === id ? viewHref('order', { id }) : others;
  } catch {
    return others; // shows the error
  }
}
