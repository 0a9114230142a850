import { get } from '../api.js';
import { clipped, emptyState, errorState, h, loading, render, table, viewLink } from '../dom.js';
import { textField, timeField } from '../fields.js';
import { formatMoney, formatTime, fromLocalInput, pluralize, timeElement } from '../format.js';
import { viewHref } from '../urls.js';
import { ORDER_STATE_LABELS, orderLink, orderStateBadge } from './labels.js';
import { PAGE_SIZE } from './paged-list.js';

/** The value of the URL parameter "state" for orders in any state. */
const ANY_STATE = 'ANY';

/** The search for orders. The URL has the search criteria. */
export function ordersView(parameters) {
  // By default only pending orders, because settled ones would come first.
  const states = parameters.size === 0 ? ['PENDING'] : parameters.getAll('state');
  const query = {
    state: states.filter((state) => state !== ANY_STATE),
    dueFrom: parameters.get('dueFrom'),
    dueTo: parameters.get('dueTo'),
    prefix: parameters.get('prefix'),
  };
  const after = parameters.get('after');
  const criteria = { ...query, state: query.state.length === 0 ? ANY_STATE : query.state };
  const requests = new AbortController();
  const results = h('div');
  // A search by id covers all states, unless the user has selected some.
  let isStateChosen = parameters.size > 0 && query.state.length > 0;
  const form = h(
    'form',
    { class: 'search', role: 'search', on: { submit } },
    textField('Order ID starts with', 'prefix', {
      type: 'search', value: query.prefix, maxlength: '256', spellcheck: 'false', autocapitalize: 'none',
    }),
    h(
      'fieldset',
      { on: { change: () => { isStateChosen = true; } } },
      h('legend', {}, 'State'),
      h('div', { class: 'row' }, ORDER_STATE_LABELS.map(([value, label]) =>
        h('label', { class: 'option' },
          h('input', { type: 'checkbox', name: 'state', value, checked: query.state.includes(value) }),
          h('span', {}, label)))),
    ),
    timeField('Deadline from', 'dueFrom', validInstant(query.dueFrom)),
    timeField('Deadline before', 'dueTo', validInstant(query.dueTo)),
    h('div', { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Search'),
      viewLink('orders', {}, 'Clear')),
  );

  function submit(event) {
    event.preventDefault();
    const data = new FormData(form);
    const isAnyState = !data.has('state') || (data.get('prefix') && !isStateChosen);
    const href = viewHref('orders', {
      prefix: data.get('prefix'),
      state: isAnyState ? ANY_STATE : data.getAll('state'),
      dueFrom: fromLocalInput(data.get('dueFrom')),
      dueTo: fromLocalInput(data.get('dueTo')),
    });
    if (href === location.hash) {
      load();
    } else {
      location.hash = href;
    }
  }

  async function load() {
    render(results, loading('Searching'));
    try {
      const page = await get('/api/v1/orders', { ...query, after, limit: PAGE_SIZE }, requests.signal);
      render(results, resultPage(page));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(results, errorState(error, load));
      }
    }
  }

  function resultPage({ data: orders, next }) {
    if (orders.length === 0) {
      return emptyState(after ? 'No more orders.' : 'No orders match your search.');
    }
    const sorting = query.prefix ? 'by ID' : 'by deadline';
    return [
      h('p', { class: 'minor', role: 'status' },
        `${countOf(orders, next)}, sorted ${sorting}, as of ${formatTime(Date.now())}`),
      orderTable(orders),
      h('nav', { class: 'pages', 'aria-label': 'Pages' },
        after && viewLink('orders', criteria, 'First page'),
        next ? viewLink('orders', { ...criteria, after: next }, 'Next page') : h('span', {}, 'No more orders')),
    ];
  }

  function countOf(orders, next) {
    if (after) {
      return next ? `The next ${orders.length} orders` : `The last ${pluralize(orders.length, 'order')}`;
    }
    return next ? `The first ${orders.length} orders; there are more` : pluralize(orders.length, 'order');
  }

  load();
  return {
    title: 'Orders',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Search' }, form),
      h('section', { class: 'card', 'aria-label': 'Results' }, results)),
    close: () => requests.abort(),
  };
}

function orderTable(orders) {
  return table(
    'Orders',
    [
      'Order',
      'State',
      'Deadline',
      { text: 'Amount', class: 'number' },
      { text: 'Channel', class: 'optional' },
      { text: 'Shard', class: 'number optional' },
    ],
    orders.map((order) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, orderLink(order.orderId)),
        h('td', {}, orderStateBadge(order.state)),
        h('td', {}, order.deadline ? timeElement(order.deadline) : '–'),
        h('td', { class: 'number' }, order.amount ? formatMoney(order.amount.value, order.amount.currency) : '–'),
        h('td', { class: 'optional' }, order.channel ? clipped(order.channel) : '–'),
        h('td', { class: 'number optional' }, order.shard),
      )),
    { class: 'cards dense' },
  );
}

function validInstant(instant) {
  return instant && !Number.isNaN(Date.parse(instant)) ? instant : null;
}
