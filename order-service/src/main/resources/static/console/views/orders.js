import { get } from '../api.js';
import { textField, timeField } from '../ask.js';
import { address, empty, failed, foreign, h, loading, render, table, to } from '../dom.js';
import { instantOf, money, second, time } from '../format.js';
import { linkToOrder, state, STATE_NAMES } from './words.js';

const ON_A_PAGE = 50;
const ANY = 'ANY';

/** The search for orders; what is looked for stands in the address. */
export function ordersView(parameters) {
  // Unless it is asked otherwise, what is still to be decided; the settled ones would come first.
  const states = parameters.size === 0 ? ['PENDING'] : parameters.getAll('state');
  const query = {
    state: states.filter((one) => one !== ANY),
    dueFrom: parameters.get('dueFrom'),
    dueTo: parameters.get('dueTo'),
    prefix: parameters.get('prefix'),
  };
  const after = parameters.get('after');
  const here = { ...query, state: query.state.length === 0 ? ANY : query.state };
  const open = new AbortController();
  const found = h('div');
  const prefix = textField('Order id begins with', 'prefix', {
    type: 'search', value: query.prefix, maxlength: '256', spellcheck: 'false', autocapitalize: 'none',
  });
  const problem = h('div', { role: 'alert' });
  const form = h(
    'form',
    { class: 'search', role: 'search', on: { submit } },
    prefix,
    h(
      'fieldset',
      { class: 'states' },
      h('legend', {}, 'State'),
      h('div', { class: 'row' }, STATE_NAMES.map(([value, text]) =>
        h('label', { class: 'option' },
          h('input', { type: 'checkbox', name: 'state', value, checked: query.state.includes(value) }),
          h('span', {}, text)))),
    ),
    timeField('Deadline from', 'dueFrom', valid(query.dueFrom)),
    timeField('Deadline before', 'dueTo', valid(query.dueTo)),
    h('div', { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Search'),
      to('orders', {}, 'Clear')),
    problem,
  );

  function submit(event) {
    event.preventDefault();
    const data = new FormData(form);
    const wanted = address('orders', {
      prefix: data.get('prefix'),
      state: data.has('state') ? data.getAll('state') : ANY,
      dueFrom: instantOf(data.get('dueFrom')),
      dueTo: instantOf(data.get('dueTo')),
    });
    if (wanted === location.hash) {
      load();
    } else {
      location.hash = wanted;
    }
  }

  async function load() {
    render(found, loading('Searching'));
    try {
      const page = await get('/api/orders', { ...query, after, limit: ON_A_PAGE }, open.signal);
      render(found, results(page));
    } catch (failure) {
      if (failure.name !== 'AbortError') {
        render(found, failed(failure, load));
      }
    }
  }

  function results({ orders, next }) {
    if (orders.length === 0) {
      return empty(after ? 'There are no more.' : 'No order is like that.');
    }
    const order = query.prefix ? 'by id' : 'by deadline';
    return [
      h('p', { class: 'minor', role: 'status' },
        `${orders.length} ${after ? 'more ' : ''}${orders.length === 1 ? 'order' : 'orders'}, ${order}, as of ${second(Date.now())}`),
      table(
        'Orders found',
        [
          'Order',
          'State',
          'Deadline',
          { text: 'Amount', class: 'number' },
          { text: 'Channel', class: 'spare' },
          { text: 'Shard', class: 'number spare' },
        ],
        orders.map((one) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, linkToOrder(one.orderId)),
            h('td', {}, state(one.state)),
            h('td', {}, one.deadline ? time(one.deadline) : '–'),
            h('td', { class: 'number' }, one.amount ? money(one.amount.value, one.amount.currency) : '–'),
            h('td', { class: 'spare' }, one.channel ? foreign(one.channel) : '–'),
            h('td', { class: 'number spare' }, one.shard),
          )),
        { class: 'cards dense' },
      ),
      h('nav', { class: 'pages', 'aria-label': 'Pages' },
        after && to('orders', here, 'First page'),
        next ? to('orders', { ...here, after: next }, 'Next page') : h('span', {}, 'No more')),
    ];
  }

  load();
  return {
    title: 'Orders',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Search' }, form),
      h('section', { class: 'card', 'aria-label': 'Results' }, found)),
    close: () => open.abort(),
  };
}

function valid(instant) {
  return instant && !Number.isNaN(Date.parse(instant)) ? instant : null;
}
