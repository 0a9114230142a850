import { download, get, session } from '../api.js';
import { badge, clipped, emptyState, errorState, h, loading, render, table, viewLink } from '../dom.js';
import { openChangeDialog, operatorButton } from '../dialog.js';
import { selectField, textField, timeField } from '../fields.js';
import {
  formatDuration, formatMoney, formatNumber, formatTime, formatUtc, fromLocalInput, pluralize, timeElement,
} from '../format.js';
import { viewHref } from '../urls.js';
import { ORDER_STATE_LABELS, orderLink, orderStateBadge } from './labels.js';
import { bulkBar, resultNotice, Selection, selectionCell } from './selection.js';

/** The value of the URL parameter "state" for orders in any state. */
const ANY_STATE = 'ANY';

/** Criteria that narrow windows show only on request, or if they are in use. */
const MORE_CRITERIA = ['channel', 'currency', 'amountFrom', 'amountTo', 'lateByMillis', 'dueFrom', 'dueTo'];
const CRITERIA = ['prefix', 'overdue', ...MORE_CRITERIA];
const narrow = matchMedia('(max-width: 640px)');
const LATENESSES = [['', 'any'], ['250', '250 ms'], ['1000', '1 s'], ['10000', '10 s'], ['60000', '1 min'], ['600000', '10 min']];
const PAGE_SIZES = ['50', '100', '500'];
const SORTS = [
  ['deadline', 'Deadline, earliest first'],
  ['-deadline', 'Deadline, latest first'],
  ['-lateness', 'Lateness from 1 s, greatest first'],
  ['lateness', 'Lateness from 1 s, least first'],
  ['id', 'Order ID, ascending'],
  ['-id', 'Order ID, descending'],
];

// More cancellations at once need their number to be typed.
const MOST_CANCELLED_UNTYPED = 10;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The search for orders. The URL has the search criteria. */
export function ordersView(parameters, page) {
  // By default only pending orders, because settled ones would come first.
  const isDefault = !['state', ...CRITERIA].some((name) => parameters.has(name));
  const states = isDefault ? ['PENDING'] : parameters.getAll('state');
  const query = {
    state: states.filter((state) => state !== ANY_STATE),
    ...Object.fromEntries(CRITERIA.map((name) => [name, parameters.get(name)])),
  };
  const sort = parameters.get('sort') ?? (query.prefix ? 'id' : 'deadline');
  const size = PAGE_SIZES.includes(parameters.get('size')) ? parameters.get('size') : PAGE_SIZES[0];
  const after = parameters.get('after');
  const criteria = {
    ...query,
    state: query.state.length === 0 ? ANY_STATE : query.state,
    sort: parameters.get('sort'),
    size: size === PAGE_SIZES[0] ? null : size,
  };
  const requests = new AbortController();
  const results = h('div', { class: 'results' });
  const notice = h('div');
  const selection = new Selection((order) => order.orderId, show);
  let found = null;
  // A search by id covers all states, unless the user has selected some.
  let isStateChosen = !isDefault && query.state.length > 0;

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
      h('div', { class: 'row' },
        ORDER_STATE_LABELS.map(([value, label]) =>
          h('label', { class: 'option' },
            h('input', { type: 'checkbox', name: 'state', value, checked: query.state.includes(value) }),
            h('span', {}, label))),
        h('label', { class: 'option' },
          h('input', { type: 'checkbox', name: 'overdue', value: 'true', checked: query.overdue === 'true' }),
          h('span', {}, 'Only overdue'))),
    ),
    h('details', { class: 'more', open: !narrow.matches || MORE_CRITERIA.some((name) => query[name]) },
      h('summary', {}, 'Channel, amount, lateness and deadline'),
      h('div', { class: 'search' },
        textField('Channel', 'channel', {
          value: query.channel, maxlength: '1000', spellcheck: 'false', autocapitalize: 'none',
        }),
        amountFields(query),
        latenessField(query.lateByMillis),
        timeField('Deadline from', 'dueFrom', validInstant(query.dueFrom)),
        timeField('Deadline before', 'dueTo', validInstant(query.dueTo)))),
    h('div', { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Search'),
      viewLink('orders', {}, 'Clear')),
  );

  // A browser says nothing of a wrong field that it cannot show. The event does not bubble.
  form.addEventListener('invalid', () => { form.querySelector('.more').open = true; }, true);

  function submit(event) {
    event.preventDefault();
    const data = new FormData(form);
    const isAnyState = !data.has('state') || (data.get('prefix') && !isStateChosen);
    goTo({
      ...Object.fromEntries(CRITERIA.map((name) => [name, data.get(name)?.trim()])),
      prefix: data.get('prefix'),
      state: isAnyState ? ANY_STATE : data.getAll('state'),
      dueFrom: fromLocalInput(data.get('dueFrom')),
      dueTo: fromLocalInput(data.get('dueTo')),
      sort: criteria.sort,
      size: criteria.size,
    });
  }

  function goTo(wanted) {
    const href = viewHref('orders', wanted);
    if (href === location.hash) {
      load();
    } else {
      location.hash = href;
    }
  }

  async function load() {
    render(results, loading('Searching'));
    try {
      found = await get(
        '/api/v1/orders', { ...query, sort, after, limit: size, total: true }, requests.signal);
      selection.offer(found.data.filter(({ state }) => state === 'PENDING'));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(results, errorState(error, load));
      }
    }
  }

  function show() {
    const { data: orders, next, searched, total } = found;
    const isEmpty = orders.length === 0;
    render(results,
      h('div', { class: 'head' },
        h('p', { class: 'minor', role: 'status' }, !isEmpty
          && `${countOf(orders.length, next, total)}, as of ${formatTime(Date.now())}`),
        h('div', { class: 'row' },
          choice('Sort by', SORTS, sort, (value) => goTo({
            // Only cancelled orders have a lateness.
            ...criteria, sort: value, state: value.endsWith('lateness') ? 'CANCELLED' : criteria.state,
          })),
          choice('Page size', PAGE_SIZES.map((value) => [value, value]), size,
            (value) => goTo({ ...criteria, size: value === PAGE_SIZES[0] ? null : value })),
          h('button', { type: 'button', class: 'small', disabled: isEmpty && !next, on: { click: () => exportCsv(null) } },
            'Export CSV'))),
      bulkBar(selection, 'pending order', 'of this page', [
        operatorButton('Extend…', () => extend(selection.items(), page, report)),
        operatorButton('Close…', () => close(selection.items(), page, report)),
        operatorButton('Cancel now…', () => cancel(selection.items(), page, report)),
      ]),
      isEmpty
        ? !searched && emptyState(after ? 'No more orders.' : emptyText(isDefault, sort))
        : orderTable(orders, selection, sortedBy),
      searched && searchedNotice(searched, orders.length, sort),
      (!isEmpty || after || next) && h('nav', { class: 'pages', 'aria-label': 'Pages' },
        after && viewLink('orders', criteria, 'First page'),
        next
          ? viewLink('orders', { ...criteria, after: next }, searched ? 'Continue the search' : 'Next page')
          : h('span', {}, 'No more orders')));
  }

  function countOf(count, next, total) {
    const all = totalOf(total);
    if (!after && !next) {
      return pluralize(count, 'order');
    }
    if (after) {
      return `The ${next ? 'next' : 'last'} ${formatNumber(count)} of ${all}`;
    }
    return `The first ${formatNumber(count)} of ${all}`;
  }

  // A column's header toggles the direction.
  function sortedBy(name, isDescendingFirst) {
    const descending = sort === `-${name}`;
    const isSorted = descending || sort === name;
    return {
      'aria-sort': isSorted ? (descending ? 'descending' : 'ascending') : null,
      link: viewHref('orders', {
        ...criteria, sort: (isSorted ? !descending : isDescendingFirst) ? `-${name}` : name,
      }),
      arrow: isSorted ? (descending ? ' ↓' : ' ↑') : '',
    };
  }

  function report(message, response) {
    render(notice, resultNotice(message, response.data, ({ orderId }) => orderLink(orderId)));
  }

  async function exportCsv(from) {
    try {
      const response = await download(
        '/api/v1/orders.csv', { ...query, sort, after: from }, 'orders.csv', requests.signal);
      const rows = Number(response.headers.get('Orders-Exported'));
      const rest = /<\?(.*)>/.exec(response.headers.get('Link') ?? '')?.[1];
      const next = rest && new URLSearchParams(rest).get('after');
      render(notice, h('p', { class: 'notice', role: 'status' },
        badge(next ? 'warn' : 'ok', `${pluralize(rows, 'order')} exported.`),
        next && [
          ` A file has at most ${formatNumber(10_000)} orders; there are more. `,
          h('button', { type: 'button', class: 'small', on: { click: () => exportCsv(next) } }, 'Export the next part'),
        ]));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(notice, h('p', { class: 'notice', role: 'alert' }, badge('bad', error.message)));
      }
    }
  }

  load();
  return {
    title: 'Orders',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Search' }, form),
      notice,
      h('section', { class: 'card', 'aria-label': 'Results' }, results)),
    refresh: load,
    close: () => requests.abort(),
  };
}

function emptyText(isDefault, sort) {
  if (sort.endsWith('lateness')) {
    return 'No order that matches your search was cancelled a second late or later.';
  }
  return isDefault
    ? 'No order is pending. Each order-created event that is read appears here until its order is paid, closed or cancelled.'
    : 'No orders match your search.';
}

function totalOf({ orders, exact }) {
  if (exact) {
    return pluralize(orders, 'order');
  }
  return orders >= 10_000 ? `more than ${pluralize(orders, 'order')}` : `at least ${pluralize(orders, 'order')}`;
}

function searchedNotice({ orders, lastDeadline, lastOrderId }, count, sort) {
  return h('p', { class: 'state' },
    badge('info', `Searched ${pluralize(orders, 'order')}`),
    sort.endsWith('deadline') && lastDeadline
      ? [' up to the deadline ', timeElement(lastDeadline)]
      : [' up to ', orderLink(lastOrderId)],
    ` and found ${count === 0 ? 'none' : formatNumber(count)}; the search is not finished.`);
}

function choice(label, options, value, onChange) {
  return selectField(label, options, value, { on: { change: (event) => onChange(event.target.value) } });
}

function latenessField(millis) {
  const isListed = LATENESSES.some(([value]) => value === (millis ?? ''));
  const field = selectField(
    'Cancelled late by at least', isListed ? LATENESSES : [...LATENESSES, [millis, `${millis} ms`]], millis ?? '',
    { name: 'lateByMillis' });
  field.className = 'field';
  return field;
}

function amountFields({ amountFrom, amountTo, currency }) {
  const number = (name, label, value) => h('input', {
    type: 'text', inputmode: 'decimal', name, value, 'aria-label': label, placeholder: label.toLowerCase(),
    pattern: '\\s*\\d+([.]\\d+)?\\s*', maxlength: '30', autocomplete: 'off', title: 'A number such as 12.50',
  });
  const currencyField = h('input', {
    type: 'text', name: 'currency', value: currency, 'aria-label': 'Currency', placeholder: 'currency',
    maxlength: '20', autocomplete: 'off', spellcheck: 'false',
  });
  const fields = h('div', { class: 'amounts', on: { input: check } },
    number('amountFrom', 'From', amountFrom), number('amountTo', 'To', amountTo), currencyField);
  function check() {
    const hasAmount = [...fields.querySelectorAll('input')].some(
      (input) => input !== currencyField && input.value.trim() !== '');
    currencyField.setCustomValidity(hasAmount && currencyField.value.trim() === ''
      ? 'Enter the currency of the amounts, for example EUR.' : '');
  }
  return h('fieldset', {}, h('legend', {}, 'Amount'), fields);
}

function orderTable(orders, selection, sortedBy) {
  const isSelectable = session.operator;
  const isAnyCancelled = orders.some(({ state }) => state === 'CANCELLED');
  // On a phone, there is room for one of them.
  const [lateness, amount] = sortedBy('lateness')['aria-sort']
    ? ['number', 'number optional']
    : ['number optional', 'number'];
  const sortable = (text, name, isDescendingFirst = false) => {
    const { link, arrow, ...attributes } = sortedBy(name, isDescendingFirst);
    return { text, content: h('a', { href: link }, text, h('span', { 'aria-hidden': 'true' }, arrow)), ...attributes };
  };
  return table(
    'Orders',
    [
      ...(isSelectable ? [''] : []),
      sortable('Order', 'id'),
      'State',
      sortable('Deadline', 'deadline'),
      ...(isAnyCancelled ? [{ ...sortable('Late by', 'lateness', true), class: lateness }] : []),
      { text: 'Amount', class: amount },
      { text: 'Channel', class: 'optional' },
      { text: 'Shard', class: 'number optional' },
    ],
    orders.map((order) =>
      h(
        'tr',
        { 'data-key': order.orderId },
        isSelectable && selectionCell(selection, order, `Select order ${order.orderId}`),
        h('th', { scope: 'row' }, orderLink(order.orderId)),
        h('td', {}, orderStateBadge(order.state)),
        h('td', {}, order.deadline ? timeElement(order.deadline) : '–'),
        isAnyCancelled && h('td', { class: lateness },
          order.lateByMillis === null ? '–' : formatDuration(order.lateByMillis)),
        h('td', { class: amount }, order.amount ? formatMoney(order.amount.value, order.amount.currency) : '–'),
        h('td', { class: 'optional' }, order.channel ? clipped(order.channel) : '–'),
        h('td', { class: 'number optional' }, order.shard),
      )),
    { class: isSelectable ? 'cards dense selectable' : 'cards dense' },
  );
}

function idsOf(orders) {
  return orders.map(({ orderId }) => orderId);
}

// What follows "3 orders".
function worth(orders) {
  const sums = new Map();
  for (const { amount } of orders) {
    if (amount) {
      sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + Number(amount.value));
    }
  }
  const text = [...sums].map(([currency, sum]) => formatMoney(sum, currency)).join(' + ');
  return text && ` worth ${text}`;
}

function summaryOf(response, done) {
  const changed = response.data.filter(({ outcome }) => ['CHANGED', 'UNCHANGED'].includes(outcome)).length;
  return changed === response.data.length
    ? `${pluralize(changed, 'order')} ${done}.`
    : `${formatNumber(changed)} of ${pluralize(response.data.length, 'order')} ${done}.`;
}

function extend(orders, page, report) {
  const latest = () => Math.max(page.now(), ...orders.map(({ deadline }) => new Date(deadline).getTime()));
  return openChangeDialog(page, {
    title: `Extend ${pluralize(orders.length, 'payment deadline')}`,
    description: [`Moves the payment deadline of ${pluralize(orders.length, 'order')}${worth(orders)} to the same later time. `
      + 'The latest one is now ', timeElement(latest()), ` (${formatUtc(latest())}).`],
    fields: timeField('New deadline', 'deadline', latest() + 15 * MINUTE, [
      ['+15 min', 15 * MINUTE], ['+1 h', HOUR], ['+1 day', DAY],
    ], latest),
    confirm: 'Extend deadlines',
    path: '/api/v1/orders/extend',
    body: (data) => {
      const deadline = fromLocalInput(data.get('deadline'));
      if (!deadline) {
        throw new Error('Enter a new deadline.');
      }
      return { orderIds: idsOf(orders), deadline };
    },
    done: (response) => {
      const message = summaryOf(response, 'extended');
      report(message, response);
      return message;
    },
  });
}

function close(orders, page, report) {
  return openChangeDialog(page, {
    title: `Close ${pluralize(orders.length, 'order')}`,
    description: `${pluralize(orders.length, 'order')}${worth(orders)} will no longer expire. No event is published. This cannot be undone.`,
    confirm: 'Close orders',
    danger: true,
    path: '/api/v1/orders/close',
    body: () => ({ orderIds: idsOf(orders) }),
    done: (response) => {
      const message = summaryOf(response, 'closed');
      report(message, response);
      return message;
    },
  });
}

function cancel(orders, page, report) {
  const count = orders.length;
  return openChangeDialog(page, {
    title: `Cancel ${pluralize(count, 'order')} now`,
    description: `${pluralize(count, 'order')}${worth(orders)} become due immediately. Each is cancelled once all payments published so far have been read, unless one of them is for it. This cannot be undone.`,
    fields: count > MOST_CANCELLED_UNTYPED
      ? textField(`Type ${count} to confirm the number of orders`, 'confirmation', { inputmode: 'numeric', required: true })
      : [],
    confirm: 'Cancel orders',
    // "Cancel" would be ambiguous here.
    dismiss: 'Keep orders',
    danger: true,
    path: '/api/v1/orders/cancel',
    body: (data) => {
      if (count > MOST_CANCELLED_UNTYPED && data.get('confirmation').trim() !== String(count)) {
        throw new Error(`Type ${count}, the number of orders, to confirm.`);
      }
      return { orderIds: idsOf(orders) };
    },
    done: (response) => {
      const message = summaryOf(response, 'due now; they will be cancelled unless they turn out to be paid');
      report(message, response);
      return message;
    },
  });
}

function validInstant(instant) {
  return instant && !Number.isNaN(Date.parse(instant)) ? instant : null;
}
