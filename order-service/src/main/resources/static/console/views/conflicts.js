import { get, session } from '../api.js';
import { openChangeDialog, operatorButton } from '../dialog.js';
import { badge, clipped, h, orderId, table, untrusted } from '../dom.js';
import { radioGroup } from '../fields.js';
import { formatMoney, timeElement } from '../format.js';
import { viewHref } from '../urls.js';
import { orderLink, orderStateBadge } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';

const KINDS = {
  PAID_IN_TIME_DELIVERED_LATE: ['warn', 'Paid in time'],
  PAID_LATE: ['info', 'Paid late'],
};

/** What became of the money, by resolution. */
export const RESOLUTIONS = {
  REFUNDED: 'Refunded',
  REACTIVATED: 'Reactivated',
  IGNORED: 'Ignored',
};

/** Payments that met a cancelled or closed order: money to be returned, or an order to be restored. */
export function conflictsView(parameters, page) {
  const onlyOpen = parameters.get('open') !== 'false';
  const requests = new AbortController();
  const conflicts = pagedList({
    fetchPage: (after) => get('/api/v1/conflicts', { open: onlyOpen, after, limit: PAGE_SIZE }, requests.signal),
    emptyText: onlyOpen
      ? 'No payment is waiting for somebody: each that met a cancelled or closed order has been ended.'
      : 'No payment has met a cancelled or closed order so far.',
    build: (items) => conflictTable(items, page),
  });
  conflicts.load();
  return {
    title: 'Payment conflicts',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Payment conflicts' },
        h('p', { class: 'minor' }, 'Payments that arrived after their order had been cancelled or closed. Each is '
          + 'published once as order-payment-conflict; refunding it or restoring the order is up to the shop, and a '
          + 'conflict is open until somebody says what became of the money. Those paid in time were made before the '
          + 'deadline, but delivered too late.'),
        tabs(onlyOpen),
        conflicts.element)),
    refresh: conflicts.load,
    close: () => requests.abort(),
  };
}

function tabs(onlyOpen) {
  return h('nav', { class: 'tabs', 'aria-label': 'Which conflicts' },
    h('ul', {}, [['Open', {}, onlyOpen], ['All', { open: 'false' }, !onlyOpen]].map(
      ([label, parameters, isShown]) => h('li', {}, h('a', {
        href: viewHref('conflicts', parameters),
        'aria-current': isShown ? 'page' : null,
      }, label)))));
}

function conflictTable(items, page) {
  return table(
    'Payment conflicts, latest first',
    ['Detected', 'Order', 'State', 'Kind', 'Payment', 'Paid', 'Deadline', { text: 'Amount', class: 'number' }, 'Ended'],
    items.map((conflict) => h('tr', { 'data-key': `${conflict.orderId} ${conflict.paymentId}` },
      h('td', {}, timeElement(conflict.detectedAt), !conflict.publishedAt && [' ', badge('wait', 'Not published yet')]),
      h('th', { scope: 'row' }, orderLink(conflict.orderId)),
      h('td', {}, orderStateBadge(conflict.state)),
      h('td', {}, badge(...(KINDS[conflict.kind] ?? ['info', conflict.kind]))),
      h('td', { class: 'optional' }, clipped(conflict.paymentId)),
      h('td', { class: 'optional' }, conflict.paidAt ? timeElement(conflict.paidAt) : '–'),
      h('td', { class: 'optional' }, conflict.deadline ? timeElement(conflict.deadline) : '–'),
      h('td', { class: 'number' },
        conflict.amount ? formatMoney(conflict.amount.value, conflict.amount.currency) : '–'),
      h('td', {}, ending(conflict, page)))),
    { class: 'cards conflicts' },
  );
}

function ending(conflict, page) {
  if (!conflict.resolution) {
    return session.operator
      ? endConflictButton(conflict, page)
      : badge('warn', 'Open');
  }
  return [
    badge('ok', RESOLUTIONS[conflict.resolution] ?? conflict.resolution), ' ',
    h('span', { class: 'minor' }, 'by ', untrusted(conflict.resolvedBy), ', ', timeElement(conflict.resolvedAt), ': ',
      untrusted(conflict.reason)),
  ];
}

/** The button with which operators say what became of the money of a conflict. */
export function endConflictButton({ orderId: order, paymentId }, page) {
  return operatorButton('End…', () => resolve(order, paymentId, page), {
    'aria-label': `End the conflict of payment ${paymentId}`,
  });
}

function resolve(order, paymentId, page) {
  return openChangeDialog(page, {
    title: 'End conflict',
    description: ['What became of the payment ', untrusted(paymentId), ' for order ', orderId(order),
      '? The service neither refunds money nor restores orders. This cannot be undone.'],
    fields: radioGroup('It was', 'resolution', [
      ['REFUNDED', 'refunded: the customer has the money back'],
      ['REACTIVATED', 'accepted: the shop delivers nevertheless'],
      ['IGNORED', 'ignored: nothing is to be done'],
    ], 'REFUNDED'),
    confirm: 'End conflict',
    path: '/api/v1/conflicts/resolve',
    body: (data) => ({ orderId: order, paymentId, resolution: data.get('resolution') }),
    done: () => 'The conflict has ended.',
  });
}
