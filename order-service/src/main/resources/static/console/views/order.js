import { get } from '../api.js';
import { ask, timeField } from '../ask.js';
import { badge, empty, fact, failed, foreign, h, loading, orderId, render, to } from '../dom.js';
import { fromNow, instantOf, money, span, spanOf, time, utc } from '../format.js';
import { waitingReason } from './waiting-reasons.js';
import { action, state } from './words.js';

const ASK_AGAIN = 2_000;

const HAPPENINGS = {
  CREATED: ['info', 'Created'],
  REGISTERED: ['info', 'Registered'],
  EXTENDED: ['wait', 'Deadline moved'],
  CANCELLATION_REQUESTED: ['warn', 'Cancellation asked for'],
  PARKED: ['warn', 'Parked'],
  RELEASED: ['ok', 'Released'],
  PAID: ['ok', 'Paid'],
  CLOSED: ['closed', 'Closed'],
  CANCELLED: ['bad', 'Cancelled'],
  PUBLISHED: ['ok', 'Cancellation published'],
  CONFLICT: ['warn', 'Payment conflict'],
  CONFLICT_PUBLISHED: ['ok', 'Conflict published'],
};

// In the order in which they are told.
const DETAILS = {
  reason: 'reason',
  before: 'before',
  after: 'after',
  policy: 'deadline set by',
  deadline: 'deadline',
  shard: 'shard',
  from: 'from',
  to: 'to',
  paidAt: 'paid at',
  closedAt: 'closed at',
  payment: 'payment',
};

const TIMES = new Set(['deadline', 'before', 'after', 'from', 'to', 'paidAt', 'closedAt']);

/** One order: how it stands, what it waits for, what happened to it, and what can be done. */
export function orderView(parameters, page) {
  const id = parameters.get('id') ?? '';
  const open = new AbortController();
  const element = h('div', { class: 'view' }, loading());
  let known = null;
  let problem = null;
  let asked = 0;

  async function load() {
    asked = Date.now();
    try {
      known = await get('/api/order', { id }, open.signal);
      problem = null;
    } catch (failure) {
      if (failure.name === 'AbortError') {
        return;
      }
      problem = failure;
    }
    show();
  }

  function show() {
    if (!known && problem) {
      render(element, problem.status === 404
        ? [
            empty('No order of that id is known. Settled orders are forgotten after a while.'),
            h('p', {}, to('orders', { prefix: id }, 'Search for ids that begin so')),
          ]
        : failed(problem, load));
      return;
    }
    if (!known) {
      return;
    }
    const { order, movesBy, waitsFor, history } = known;
    const pending = order.state === 'PENDING';
    render(
      element,
      problem && h('p', {}, badge('warn', `This may be old. ${problem.message}`)),
      h(
        'section',
        { class: 'card summary', 'aria-label': 'How it stands' },
        h('p', { class: 'big' }, state(order.state), pending && order.deadline && [
          ' ', h('span', { class: 'countdown' }, due(order.deadline, page.now())),
        ]),
        h('dl', { class: 'facts' },
          fact('Deadline', order.deadline && time(order.deadline)),
          fact('Still to move by', movesBy && span(spanOf(movesBy))),
          fact('Amount', order.amount && money(order.amount.value, order.amount.currency)),
          fact('Channel', order.channel && foreign(order.channel)),
          fact('Payment method', order.paymentMethod && foreign(order.paymentMethod)),
          fact('Deadline set by', order.policy && foreign(order.policy)),
          fact('Created', order.createdAt && time(order.createdAt)),
          fact('Decided', order.decidedAt && time(order.decidedAt)),
          fact('Decided by', order.decidedBy && order.decidedBy.toLowerCase()),
          fact('Payment', order.paymentId && foreign(order.paymentId)),
          fact('Shard', order.shard)),
        pending && h('div', { class: 'buttons' },
          action('Extend …', () => extend(order, page)),
          action('Close …', () => close(order, page)),
          action('Cancel now …', () => cancel(order, page)),
          waitsFor.some(({ type }) => type === 'parked') && action('Release …', () => release(order, page))),
      ),
      pending && h(
        'section',
        { class: 'card', 'aria-labelledby': 'waits' },
        h('h2', { id: 'waits' }, 'Why it is pending'),
        waitsFor.length === 0
          ? empty('Nothing blocks the order. It is about to be decided.')
          : h('ul', { class: 'waits' }, waitsFor.map((reason) =>
            h('li', {}, waitingReason(reason, page.now())))),
      ),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'timeline' },
        h('h2', { id: 'timeline' }, 'What happened'),
        h('ol', { class: 'timeline' }, history.map(happened)),
        h('p', { class: 'minor' }, to('audit', { subject: order.orderId }, 'What operators did to it')),
      ),
    );
  }

  load();
  return {
    title: `Order ${id}`,
    heading: ['Order ', orderId(id)],
    element,
    tick() {
      show();
      if (Date.now() - asked >= ASK_AGAIN) {
        load();
      }
    },
    refresh: load,
    close: () => open.abort(),
  };
}

function due(deadline, now) {
  return new Date(deadline).getTime() > now
    ? `due ${fromNow(deadline, now)}`
    : `due since ${span(now - new Date(deadline).getTime())}`;
}

function happened({ at, what, by, details }) {
  const [meaning, text] = HAPPENINGS[what] ?? ['info', what];
  return h(
    'li',
    {},
    h('div', { class: 'when' }, at ? time(at) : 'time not known'),
    h(
      'div',
      {},
      h('p', {}, badge(meaning, text), ' ', h('span', { class: 'minor' }, 'by ', foreign(by))),
      Object.keys(details).length > 0 && h('dl', { class: 'details' },
        Object.keys({ ...DETAILS, ...details }).map((name) =>
          details[name] && fact(DETAILS[name] ?? name, TIMES.has(name) && !Number.isNaN(Date.parse(details[name]))
            ? time(details[name])
            : foreign(details[name])))),
    ),
  );
}

async function extend(order, page) {
  const base = () => Math.max(new Date(order.deadline).getTime(), page.now());
  const answer = await ask({
    title: 'Extend the order',
    about: ['The deadline of ', orderId(order.orderId), ' moves to a later time. It is now ',
      time(order.deadline), ` (${utc(order.deadline)}).`],
    fields: timeField('New deadline', 'deadline', base() + 900_000, [
      ['+15 min', 900_000], ['+1 h', 3_600_000], ['+1 day', 86_400_000],
    ], base),
    confirm: 'Extend',
    path: '/api/order/extend',
    body: (data) => {
      const deadline = instantOf(data.get('deadline'));
      if (!deadline) {
        throw new Error('Say until when.');
      }
      return { orderId: order.orderId, deadline };
    },
  });
  if (answer) {
    page.tell('The deadline has moved.');
    page.refresh();
  }
}

async function close(order, page) {
  const answer = await ask({
    title: 'Close the order',
    about: ['The order ', orderId(order.orderId), ' has no timeout any more, and nobody is told. This cannot be undone.'],
    confirm: 'Close the order',
    danger: true,
    path: '/api/order/close',
    body: () => ({ orderId: order.orderId }),
  });
  if (answer) {
    page.tell('The order is closed.');
    page.refresh();
  }
}

async function cancel(order, page) {
  const answer = await ask({
    title: 'Cancel the order now',
    about: ['The order ', orderId(order.orderId), ' becomes due at once. It is cancelled as soon as all payments until now are read, unless one of them is its own. This cannot be undone.'],
    confirm: 'Cancel the order',
    danger: true,
    path: '/api/order/cancel',
    body: () => ({ orderId: order.orderId }),
  });
  if (answer) {
    page.tell('The order is due; it is cancelled unless it turns out to be paid.');
    page.refresh();
  }
}

async function release(order, page) {
  const answer = await ask({
    title: 'Release the order',
    about: ['The order ', orderId(order.orderId), ' may be decided again. Mend first what it was parked for: if it was paid, it is cancelled all the same unless the payment is read.'],
    confirm: 'Release',
    danger: true,
    path: '/api/order/release',
    body: () => ({ orderId: order.orderId }),
  });
  if (answer) {
    page.tell('The order is released.');
    page.refresh();
  }
}
