import { get } from '../api.js';
import { badge, clipped, h, table } from '../dom.js';
import { formatMoney, timeElement } from '../format.js';
import { orderLink, orderStateBadge } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';

const KINDS = {
  PAID_IN_TIME_DELIVERED_LATE: ['warn', 'Paid in time'],
  PAID_LATE: ['info', 'Paid late'],
};

/** Payments that met a cancelled or closed order: money to be returned, or an order to be restored. */
export function conflictsView() {
  const requests = new AbortController();
  const conflicts = pagedList({
    fetchPage: (after) => get('/api/v1/conflicts', { after, limit: PAGE_SIZE }, requests.signal),
    emptyText: 'No payments for cancelled or closed orders.',
    build: conflictTable,
  });
  conflicts.load();
  return {
    title: 'Payment conflicts',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Payment conflicts' },
        h('p', { class: 'minor' }, 'Payments that arrived after their order had been cancelled or closed. Each is '
          + 'published once as order-payment-conflict; refunding it or restoring the order is up to the shop. Those paid in '
          + 'time were made before the deadline, but delivered too late.'),
        conflicts.element)),
    refresh: conflicts.load,
    close: () => requests.abort(),
  };
}

function conflictTable(items) {
  return table(
    'Payment conflicts, latest first',
    ['Detected', 'Order', 'State', 'Kind', 'Payment', 'Paid', 'Deadline', { text: 'Amount', class: 'number' }, 'Published'],
    items.map((conflict) => h('tr', { 'data-key': `${conflict.orderId} ${conflict.paymentId}` },
      h('td', {}, timeElement(conflict.detectedAt)),
      h('th', { scope: 'row' }, orderLink(conflict.orderId)),
      h('td', {}, orderStateBadge(conflict.state)),
      h('td', {}, badge(...(KINDS[conflict.kind] ?? ['info', conflict.kind]))),
      h('td', {}, clipped(conflict.paymentId)),
      h('td', {}, conflict.paidAt ? timeElement(conflict.paidAt) : '–'),
      h('td', {}, conflict.deadline ? timeElement(conflict.deadline) : '–'),
      h('td', { class: 'number' },
        conflict.amount ? formatMoney(conflict.amount.value, conflict.amount.currency) : '–'),
      h('td', {}, conflict.publishedAt ? timeElement(conflict.publishedAt) : badge('wait', 'Not yet')))),
    { class: 'cards' },
  );
}
