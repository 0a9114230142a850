import { get } from '../api.js';
import { openChangeDialog, operatorButton } from '../dialog.js';
import { copyable } from '../copy.js';
import {
  badge, emptyState, errorState, expandable, fact, h, loading, orderId, render, untrusted, viewLink,
} from '../dom.js';
import { timeField } from '../fields.js';
import {
  exactTime, formatDuration, formatInOtherZone, formatMoney, fromLocalInput, parseDuration, relativeTime,
  timeWithAge,
} from '../format.js';
import { endConflictButton, RESOLUTIONS } from './conflicts.js';
import { deadlinePolicy, orderStateBadge, paidAfterAllBadge } from './labels.js';
import { waitingReason } from './waiting-reasons.js';

const REFRESH_MILLIS = 2_000;
const MAX_QUOTED = 160;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const EVENTS = {
  CREATED: ['info', 'Created'],
  REGISTERED: ['info', 'Registered'],
  ATTEMPT_STARTED: ['wait', 'Payment under way'],
  ATTEMPT_ENDED: ['info', 'Payment attempt ended'],
  WARNED: ['warn', 'Customer warned'],
  CHANGED: ['info', 'Changed by the shop'],
  EXTENDED: ['wait', 'Deadline extended'],
  CANCELLATION_REQUESTED: ['warn', 'Cancellation requested'],
  PARKED: ['warn', 'Parked'],
  RELEASED: ['ok', 'Released'],
  REPLAYED: ['info', 'Dead letter replayed'],
  PAID: ['ok', 'Paid'],
  REDELIVERED: ['info', 'Payment delivered again'],
  PAYMENT_WITHOUT_EFFECT: ['warn', 'Payment without effect'],
  CLOSED: ['closed', 'Closed'],
  CANCELLED: ['bad', 'Cancelled'],
  PUBLISHED: ['ok', 'Cancellation published'],
  CONFLICT: ['warn', 'Payment conflict'],
  CONFLICT_PUBLISHED: ['ok', 'Conflict published'],
  CONFLICT_RESOLVED: ['ok', 'Conflict ended'],
};

// In display order.
const DETAIL_LABELS = {
  resolution: 'as',
  reason: 'reason',
  before: 'previous deadline',
  after: 'new deadline',
  policy: 'deadline set by',
  channel: 'channel',
  paymentMethod: 'payment method',
  amount: 'amount',
  changedAt: 'changed at',
  deadline: 'payment deadline',
  shard: 'shard',
  from: 'interrupted from',
  to: 'until',
  paidAt: 'paid at',
  closedAt: 'closed at',
  attempt: 'attempt ID',
  until: 'until',
  warning: 'warning',
  leadTime: 'before the deadline',
  publishedAt: 'published at',
  payment: 'payment ID',
  eventId: 'event ID',
  topic: 'topic',
  record: 'record',
  deadLetter: 'dead letter',
  position: 'replayed as',
  corrected: 'with corrections',
};

const DECIDED_BY = {
  PAYMENT: 'a payment',
  CLOSING: 'a closure elsewhere',
  EXPIRY: 'its payment deadline',
  STALE: 'its age: it was first read long after its deadline',
  OPERATOR: 'an operator',
};

const COPIED_DETAILS = new Set(['payment', 'eventId', 'topic', 'record', 'deadLetter', 'position']);
const TIME_DETAILS = new Set(['deadline', 'before', 'after', 'from', 'to', 'until', 'publishedAt', 'paidAt', 'closedAt', 'changedAt']);

/** One order: its status, why it is pending, its history, and the changes that operators can make. */
export function orderView(parameters, page) {
  const id = parameters.get('id') ?? '';
  const requests = new AbortController();
  const element = h('div', { class: 'view' }, loading());
  let details = null;
  let error = null;
  let loadedAt = 0;

  async function load() {
    loadedAt = Date.now();
    try {
      details = await get('/api/v1/order', { id }, requests.signal);
      error = null;
    } catch (failure) {
      if (failure.name === 'AbortError') {
        return;
      }
      error = failure;
    }
    show();
  }

  function show() {
    if (details) {
      render(
        element,
        error && h('p', {}, badge('warn', `This data may be stale. ${error.message}`)),
        summary(details, page),
        details.order.state === 'PENDING' && waitingReasons(details, page),
        timeline(details, page),
      );
    } else if (error) {
      render(element, error.status === 404 ? notFound(id) : errorState(error, load));
    }
  }

  load();
  return {
    title: `Order ${id}`,
    heading: ['Order ', orderId(id)],
    element,
    tick() {
      show();
      if (Date.now() - loadedAt >= REFRESH_MILLIS) {
        load();
      }
    },
    refresh: load,
    close: () => requests.abort(),
  };
}

function notFound(id) {
  return [
    emptyState('No order has this ID. Settled orders are deleted after the retention period.'),
    h('p', {}, viewLink('orders', { prefix: id }, 'Search for order IDs that start with this')),
  ];
}

function summary({ order, explanation, history, movesBy, waitsFor }, page) {
  const now = page.now();
  const pending = order.state === 'PENDING';
  const conflicts = conflictsOf(history);
  const eventIds = history.map(({ details }) => details.eventId).filter(Boolean);
  const paymentIds = [order.paymentId, ...history.map(({ details }) => details.payment)].filter(Boolean);
  return h(
    'section',
    { class: 'card summary', 'aria-label': 'Status' },
    h('p', { class: 'big' },
      conflicts.some(({ resolution }) => !resolution) && !pending
        ? paidAfterAllBadge(order.state)
        : orderStateBadge(order.state),
      pending && order.deadline && [
        ' ', h('span', { class: 'countdown' }, `due ${relativeTime(order.deadline, now)}`),
      ]),
    !pending && conflicts.map((conflict) => conflictAdvice(order, conflict, page)),
    h('p', { class: 'explanation' }, explained(explanation, paymentIds, eventIds)),
    h('dl', { class: 'facts' },
      fact('Order ID', copyable(order.orderId, 'order ID')),
      fact('Payment deadline', order.deadline && timeWithAge(order.deadline, now)),
      fact('Grace', order.grace && formatDuration(parseDuration(order.grace))),
      fact('Upcoming extension', movesBy && formatDuration(parseDuration(movesBy))),
      fact('Amount', order.amount && formatMoney(order.amount.value, order.amount.currency)),
      fact('Channel', order.channel && untrusted(order.channel)),
      fact('Payment method', order.paymentMethod && untrusted(order.paymentMethod)),
      fact('Deadline set by', order.policy && deadlinePolicy(order.policy)),
      fact('Created', order.createdAt && timeWithAge(order.createdAt, now)),
      fact('Decided', order.decidedAt && timeWithAge(order.decidedAt, now)),
      fact('Decided by', order.decidedBy
        ? (DECIDED_BY[order.decidedBy] ?? order.decidedBy)
        : order.state === 'CLOSED' && 'exempt'),
      fact('Shard', order.shard),
      fact('Payment', order.paymentId && copyable(order.paymentId, 'ID of the payment')),
      conflicts.map(({ paymentId }) =>
        fact('Payment too late', copyable(paymentId, 'ID of the payment that was too late'))),
      history.filter(({ what }) => what === 'PUBLISHED').map(({ details }) =>
        details.eventId && fact('Cancellation event', copyable(details.eventId, 'ID of the cancellation event')))),
    pending && h('div', { class: 'buttons' },
      operatorButton('Extend…', () => extend(order, page)),
      operatorButton('Close…', () => close(order, page)),
      operatorButton('Cancel now…', () => cancel(order, page)),
      waitsFor.some(({ type }) => type === 'parked') &&
        operatorButton('Release…', () => release(order, page))),
  );
}

/** The payments that met the order after its decision, each with what became of its money. */
function conflictsOf(history) {
  const ended = new Map(history.filter(({ what }) => what === 'CONFLICT_RESOLVED')
    .map(({ details }) => [details.payment, details.resolution]));
  return history.filter(({ what }) => what === 'CONFLICT')
    .map(({ details: { payment } }) => ({ paymentId: payment, resolution: ended.get(payment) }));
}

// What to do about a payment that met the order after its decision, or what was done.
function conflictAdvice(order, { paymentId, resolution }, page) {
  return h('div', { class: 'item', 'data-key': `conflict of ${paymentId}` },
    h('p', {}, resolution
      ? ['Payment ', untrusted(paymentId), ' arrived too late: ', (RESOLUTIONS[resolution] ?? resolution).toLowerCase(), '.']
      : ['Payment ', untrusted(paymentId), ' arrived after the order had been ', order.state.toLowerCase(),
        '. Refund it or deliver nevertheless; this service does neither. Then end the conflict, so that the money is not returned twice.']),
    !resolution && endConflictButton({ orderId: order.orderId, paymentId }, page));
}

/**
 * The sentence with its times in the chosen time zone, and text from outside isolated. The ids of payments and
 * events are not in it: they stand below.
 */
function explained(sentence, paymentIds, eventIds) {
  const readable = eventIds.reduce((text, id) => text.replace(` as event ${id}`, ''), sentence);
  const known = new Set(paymentIds);
  return readable.split(/( ?“[^”]*”)/).map((part) => {
    const quoted = /^( ?)“(.*)”$/s.exec(part);
    if (quoted) {
      return known.has(quoted[2]) ? null : [quoted[1], '“', untrusted(shortened(quoted[2])), '”'];
    }
    return part.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/).map((piece, i) =>
        (i % 2 === 1 ? exactTime(piece) : untrusted(piece)));
  });
}

// The timeline has the whole text.
function shortened(text) {
  const characters = [...text];
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}…` : text;
}

function waitingReasons({ waitsFor }, page) {
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'waiting' },
    h('h2', { id: 'waiting' }, 'Why it is pending'),
    waitsFor.length === 0
      ? emptyState('Nothing blocks the order. It is about to be decided.')
      : h('ul', { class: 'waiting' }, waitsFor.map((reason) =>
        h('li', {}, waitingReason(reason, page.now())))),
  );
}

function timeline({ order, history }, page) {
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'timeline' },
    h('h2', { id: 'timeline' }, 'Timeline'),
    h('ol', { class: 'timeline' }, history.map((entry) =>
      timelineEntry(entry, stageTime(entry, order, history), page.now()))),
    h('p', { class: 'minor' }, viewLink('audit', { subject: order.orderId }, 'Audit log of this order'),
      history.some(({ what }) => what === 'CONFLICT') && [' · ', viewLink('conflicts', {}, 'All payment conflicts')]),
  );
}

/** How long a stage took that ended with the entry, and since when; null if that is not known. */
function stageTime({ at, what, details }, { lateByMillis }, history) {
  if (what === 'CANCELLED') {
    return lateByMillis === null ? null : `${formatDuration(lateByMillis)} after it was due`;
  }
  const of = (name) => history.find((entry) => entry.what === name && entry.details.payment === details.payment)?.at;
  const [since, text] = {
    REGISTERED: [of('CREATED'), 'after the creation'],
    PAID: [details.paidAt, 'after the payment'],
    CLOSED: [details.closedAt, 'after the closure'],
    PUBLISHED: [of('CANCELLED'), 'after the decision'],
    CONFLICT: [details.paidAt, 'after the payment'],
    CONFLICT_PUBLISHED: [of('CONFLICT'), 'after it was detected'],
  }[what] ?? [];
  const millis = since && at ? new Date(at).getTime() - new Date(since).getTime() : -1;
  return millis >= 0 ? `${formatDuration(millis)} ${text}` : null;
}

function timelineEntry({ at, what, by, details }, stage, now) {
  const [level, label] = EVENTS[what] ?? ['info', what];
  return h(
    'li',
    {},
    h('div', { class: 'when' }, at
      ? [exactTime(at), h('span', { class: 'age' }, relativeTime(at, now))]
      : 'time unknown'),
    h(
      'div',
      {},
      h('p', {}, badge(level, label), ' ', h('span', { class: 'minor' }, 'by ', untrusted(by), stage && `, ${stage}`)),
      Object.keys(details).length > 0 && h('dl', { class: 'details' },
        Object.keys({ ...DETAIL_LABELS, ...details }).map((name) =>
          details[name] && fact(detailLabel(name, what), detailValue(name, details[name])))),
    ),
  );
}

function detailLabel(name, what) {
  return name === 'deadline' && what === 'REGISTERED' ? 'first payment deadline' : DETAIL_LABELS[name] ?? name;
}

function detailValue(name, value) {
  if (name === 'policy') {
    return deadlinePolicy(value);
  }
  if (name === 'corrected') {
    return value === 'true' ? 'yes' : 'no';
  }
  if (COPIED_DETAILS.has(name)) {
    return copyable(value, DETAIL_LABELS[name]);
  }
  return TIME_DETAILS.has(name) && !Number.isNaN(Date.parse(value)) ? exactTime(value) : expandable(value);
}

function extend(order, page) {
  const base = () => Math.max(new Date(order.deadline).getTime(), page.now());
  return openChangeDialog(page, {
    title: 'Extend payment deadline',
    description: ['Moves the payment deadline of order ', orderId(order.orderId), ' to a later time. It is now ',
      exactTime(order.deadline), ` (${formatInOtherZone(order.deadline)}).`],
    fields: timeField('New deadline', 'deadline', base() + 15 * MINUTE, [
      ['+15 min', 15 * MINUTE], ['+1 h', HOUR], ['+1 day', DAY],
    ], base),
    confirm: 'Extend deadline',
    path: '/api/v1/order/extend',
    body: (data) => {
      const deadline = fromLocalInput(data.get('deadline'));
      if (!deadline) {
        throw new Error('Enter a new deadline.');
      }
      return { orderId: order.orderId, deadline };
    },
    done: () => 'The deadline has been extended.',
  });
}

function close(order, page) {
  return openChangeDialog(page, {
    title: 'Close order',
    description: ['Order ', orderId(order.orderId), ' will no longer expire. No event is published. This cannot be undone.'],
    confirm: 'Close order',
    danger: true,
    path: '/api/v1/order/close',
    body: () => ({ orderId: order.orderId }),
    done: () => 'The order has been closed.',
  });
}

function cancel(order, page) {
  return openChangeDialog(page, {
    title: 'Cancel order now',
    description: ['Order ', orderId(order.orderId), ' becomes due immediately. It is cancelled once all payments published so far have been read, unless one of them is for this order. This cannot be undone.'],
    confirm: 'Cancel order',
    // "Cancel" would be ambiguous here.
    dismiss: 'Keep order',
    danger: true,
    path: '/api/v1/order/cancel',
    body: () => ({ orderId: order.orderId }),
    done: () => 'The order is due now and will be cancelled, unless it turns out to be paid.',
  });
}

function release(order, page) {
  return openChangeDialog(page, {
    title: 'Release order',
    description: ['Order ', orderId(order.orderId), ' can be decided again. Fix the reason why it was parked first: even if the customer has paid, the order is cancelled unless the payment is read.'],
    confirm: 'Release order',
    danger: true,
    path: '/api/v1/order/release',
    body: () => ({ orderId: order.orderId }),
    done: () => 'The order has been released.',
  });
}
