import { get } from '../api.js';
import { h, loading, render, table, untrusted } from '../dom.js';
import { timeElement } from '../format.js';
import { orderLink, pauseScope } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';
import { suspensionList } from './suspensions.js';

/** Everything that suspends expiry: pauses, shard holds and parked orders. */
export function pausesView(parameters, page) {
  const requests = new AbortController();
  const pauses = h('div', {}, loading());
  const holds = h('div', {}, loading());
  const parked = parkedOrders(requests.signal);
  const history = pauseHistory(requests.signal, page);
  let shown = null;

  function show(overview) {
    render(pauses, suspensionList(page, { pauses: overview.pauses }, 'Expiry is not paused. Use “Pause expiry…” above while customers cannot pay, for example during an outage of the payment provider.'));
    render(holds, suspensionList(page, { holds: overview.holds }, 'No shard is held. A shard is held automatically if events in Kafka were deleted before they had been read, because payments may be among them.'));
    const current = [overview.parked, ...overview.pauses.map((pause) => pause.id)].join();
    if (shown !== null && shown !== current) {
      refresh();
    }
    shown = current;
  }

  function refresh() {
    parked.load();
    history.load();
  }

  refresh();
  return {
    title: 'Pauses, holds and parked orders',
    element: h(
      'div',
      { class: 'view columns' },
      h('section', { class: 'card half', 'aria-labelledby': 'pauses' },
        h('h2', { id: 'pauses' }, 'Pauses in force'), pauses),
      h('section', { class: 'card half', 'aria-labelledby': 'holds' },
        h('h2', { id: 'holds' }, 'Shard holds'), holds),
      h('section', { class: 'card wide', 'aria-labelledby': 'parked' },
        h('h2', { id: 'parked' }, 'Parked orders'), parked.element),
      h('section', { class: 'card wide', 'aria-labelledby': 'history' },
        h('h2', { id: 'history' }, 'Pause history'), history.element),
    ),
    show,
    refresh,
    close: () => requests.abort(),
  };
}

function parkedOrders(signal) {
  return pagedList({
    fetchPage: (after) => get('/api/v1/parked', { after, limit: PAGE_SIZE }, signal),
    emptyText: 'No order is parked. An order is parked, so that it is not cancelled, if it may have been paid: a dead letter names it, or its confirmation is missing.',
    build: (orders) => table(
      'Parked orders',
      ['Order', 'Reason', 'Since'],
      orders.map((order) => h('tr', { 'data-key': order.orderId },
        h('th', { scope: 'row' }, orderLink(order.orderId)),
        h('td', {}, untrusted(order.reason)),
        h('td', {}, timeElement(order.parkedAt)))),
      { class: 'cards' },
    ),
  });
}

function pauseHistory(signal, page) {
  return pagedList({
    fetchPage: (after) => get('/api/v1/pauses', { after, limit: PAGE_SIZE }, signal),
    emptyText: 'Expiry has never been paused. Pauses are listed here with who placed and ended them, and why.',
    build: (pauses) => table(
      'Pause history',
      ['Pause', 'Scope', 'Placed by', 'Start', 'End', 'Reason'],
      pauses.map((pause) => h('tr', { 'data-key': String(pause.id) },
        h('th', { scope: 'row' }, pause.id),
        h('td', {}, pauseScope(pause.channel)),
        h('td', {}, untrusted(pause.placedBy)),
        h('td', {}, timeElement(pause.beganAt)),
        h('td', {}, end(pause, page.now())),
        h('td', {}, untrusted(pause.reason)))),
      { class: 'cards' },
    ),
  });
}

function end(pause, now) {
  if (pause.endedAt) {
    return [timeElement(pause.endedAt), ' by ', untrusted(pause.endedBy)];
  }
  if (!pause.endsAt) {
    return 'in force';
  }
  return [timeElement(pause.endsAt), new Date(pause.endsAt).getTime() > now ? ' (in force)' : ' (automatic)'];
}
