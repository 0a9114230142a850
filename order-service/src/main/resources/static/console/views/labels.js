import { badge, orderId, untrusted, viewLink } from '../dom.js';

// Labels that several views share.

const ORDER_STATES = {
  PENDING: ['wait', 'Pending'],
  PAID: ['ok', 'Paid'],
  CLOSED: ['closed', 'Closed'],
  CANCELLED: ['bad', 'Cancelled'],
};

/** Pairs of an order state and its label. */
export const ORDER_STATE_LABELS = Object.entries(ORDER_STATES).map(([state, [, label]]) => [state, label]);

export function orderStateBadge(state) {
  const [level, label] = ORDER_STATES[state] ?? ['info', state];
  return badge(level, label);
}

/** The same of an order that was not paid as far as was known, and for which a payment arrived. */
export function paidAfterAllBadge(state) {
  const [, label] = ORDER_STATES[state] ?? ['info', state];
  return badge('warn', `${label}, but a payment arrived`);
}

const POLICIES = {
  PAY_BY: 'the order’s own deadline',
  TIMEOUT: 'the order’s own timeout',
  DEFAULT: 'the default timeout',
};

/** What set the deadline of an order. */
export function deadlinePolicy(policy) {
  return Object.hasOwn(POLICIES, policy) ? POLICIES[policy] : ['policy ', untrusted(policy)];
}

export function orderLink(id) {
  return viewLink('order', { id }, orderId(id));
}

/** The orders that a pause covers. */
export function pauseScope(channel) {
  return channel === null || channel === undefined ? 'all orders' : ['channel ', untrusted(channel)];
}
