import { get } from '../api.js';
import { badge, emptyState, errorState, fact, h, loading, render, table, untrusted } from '../dom.js';
import { textField, timeField } from '../fields.js';
import {
  formatDuration, formatMoney, formatNumber, fromLocalInput, parseDuration, timeWithAge,
} from '../format.js';
import { deadlinePolicy } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';

/**
 * The timeout policies in force, what they mean for an order that does not exist yet, and what another time to pay would
 * have done to those that did.
 */
export function policiesView(_parameters, page) {
  const requests = new AbortController();
  const result = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { on: { submit } },
    textField('Channel', 'channel', { maxlength: '256' }),
    textField('Payment method', 'paymentMethod', { maxlength: '256' }),
    textField('Amount', 'amount', { inputmode: 'decimal', maxlength: '40' }),
    textField('Currency', 'currency', { maxlength: '10' }),
    timeField('Created', 'createdAt', null),
    h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Preview')),
  );
  const policies = pagedList({
    fetchPage: (after) => get('/api/v1/policies', { after, limit: PAGE_SIZE }, requests.signal),
    emptyText: 'There are no policies. All orders that state no deadline have the default timeout.',
    build: (items) => table(
      'Timeout policies, in the order in which they are compared with an order',
      ['Policy', 'Orders', 'Time to pay', 'Before and after the deadline'],
      items.map((policy, index) => h('tr', { 'data-key': `${index} ${policy.name}` },
        h('th', { scope: 'row' }, untrusted(policy.name)),
        h('td', {}, orders(policy)),
        h('td', {}, timeToPay(policy)),
        h('td', {}, around(policy)))),
      { class: 'cards' },
    ),
  });

  async function submit(event) {
    event.preventDefault();
    const entered = new FormData(form);
    const createdAt = fromLocalInput(entered.get('createdAt'));
    const of = (name) => entered.get(name) || undefined;
    render(result, loading());
    try {
      render(result, preview(await get('/api/v1/policies/preview', {
        channel: of('channel'),
        paymentMethod: of('paymentMethod'),
        amount: of('amount'),
        currency: of('currency'),
        createdAt: createdAt ? new Date(createdAt).toISOString() : undefined,
      }, requests.signal), page.now()));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(result, errorState(error, () => form.requestSubmit()));
      }
    }
  }

  const outcome = h('div', { 'aria-live': 'polite' });
  const question = h(
    'form',
    { on: { submit: ask } },
    textField('Time to pay, in minutes', 'minutes', { inputmode: 'decimal', required: true, maxlength: '10' }),
    textField('Channel', 'channel', { maxlength: '256' }),
    textField('Payment method', 'paymentMethod', { maxlength: '256' }),
    h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Estimate')),
  );

  async function ask(event) {
    event.preventDefault();
    const entered = new FormData(question);
    const of = (name) => entered.get(name) || undefined;
    render(outcome, loading());
    try {
      const seconds = Math.round(Number(entered.get('minutes')) * 60);
      if (!(seconds > 0)) {
        throw new Error('Enter a number of minutes.');
      }
      render(outcome, whatIf(seconds * 1_000, await get('/api/v1/policies/what-if', {
        timeout: `PT${seconds}S`,
        channel: of('channel'),
        paymentMethod: of('paymentMethod'),
      }, requests.signal)));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(outcome, errorState(error, () => question.requestSubmit()));
      }
    }
  }

  policies.load();
  return {
    title: 'Timeout policies',
    element: h('div', { class: 'view columns' },
      h('section', { class: 'card two-thirds', 'aria-labelledby': 'policies' },
        h('h2', { id: 'policies' }, 'Policies in force'),
        h('p', { class: 'minor' },
          'The first policy that matches an order applies. A changed policy concerns new orders only.'),
        policies.element),
      h('section', { class: 'card', 'aria-labelledby': 'preview' },
        h('h2', { id: 'preview' }, 'Preview a deadline'), form, result),
      h('section', { class: 'card wide', 'aria-labelledby': 'what-if' },
        h('h2', { id: 'what-if' }, 'What if'),
        h('p', { class: 'minor' },
          'What another time to pay would have done to the orders of the last days, estimated from a sample of them.'),
        question, outcome)),
    close: () => requests.abort(),
  };
}

function orders({ channel, paymentMethod, above, upTo, currency }) {
  const conditions = [
    channel && ['channel ', untrusted(channel)],
    paymentMethod && ['payment method ', untrusted(paymentMethod)],
    currency && [above && `above ${above} `, upTo && `up to ${upTo} `, untrusted(currency)],
  ].filter(Boolean);
  return conditions.length === 0 ? 'all' : joined(conditions);
}

function timeToPay({ timeout, businessDays, until, zone, exempt }) {
  if (exempt) {
    return badge('info', 'exempt');
  }
  return [
    timeout ? duration(timeout) : `${businessDays} business ${businessDays === 1 ? 'day' : 'days'}`,
    until && `, until ${until} in ${zone}`,
  ];
}

function around({ warnings, grace, confirm, unconfirmed }) {
  const parts = [
    warnings.length > 0 && `warned ${warnings.map(duration).join(' and ')} before`,
    grace && `not cancelled for ${duration(grace)}`,
    confirm && `waits ${duration(confirm)} for a confirmation, else ${unconfirmed === 'PARK' ? 'parked' : 'cancelled'}`,
  ].filter(Boolean);
  return parts.length === 0 ? '–' : joined(parts);
}

function preview({ policy, deadline, warnings, dueAt, confirmBy }, now) {
  if (!deadline) {
    return emptyState('Exempt by ', deadlinePolicy(policy), ': the order has no deadline.');
  }
  return h('dl', { class: 'facts' },
    fact('Deadline set by', deadlinePolicy(policy)),
    fact('Payment deadline', timeWithAge(deadline, now)),
    warnings.map((at, index) => fact(`Warning ${index + 1}`, timeWithAge(at, now))),
    dueAt !== deadline && fact('Not cancelled before', timeWithAge(dueAt, now)),
    confirmBy && fact('Confirmation awaited until', timeWithAge(confirmBy, now)));
}

function whatIf(timeout, result) {
  if (result.sampled === 0) {
    return emptyState('No order of the last days matches.');
  }
  const present = parseDuration(result.presentTimeout);
  const released = parseDuration(result.releasedEarlier);
  return [
    h('dl', { class: 'facts' },
      fact('Orders', `about ${formatNumber(result.orders)}, from ${formatNumber(result.sampled)} of them`),
      fact('Time to pay until now', formatDuration(present)),
      fact('Paid, and would be cancelled', total(result.wouldBeCancelled)),
      fact('Paid too late, and would be in time', total(result.wouldBePaid)),
      fact(released < 0 ? 'Stock released later' : 'Stock released earlier',
        `${formatDuration(Math.abs(released))} in sum, of about ${formatNumber(result.cancelled)} cancelled orders`)),
    paidOrders(timeout, present, result.timesToPay),
  ];
}

/** The paid orders by time to pay, with both deadlines among them. */
function paidOrders(timeout, present, times) {
  const most = Math.max(1, ...times.map(({ paid }) => paid));
  let begin = 0;
  return table(
    'Paid orders by time to pay',
    ['Time to pay', { text: 'Orders', class: 'number' }, ''],
    times.map(({ upTo, paid }) => {
      const end = parseDuration(upTo);
      const contains = (time) => time > begin && time <= end;
      const marks = [
        contains(present) && badge('info', 'Deadline until now'), ' ',
        contains(timeout) && badge('wait', 'This time to pay'),
      ];
      begin = end;
      return h('tr', { 'data-key': upTo },
        h('th', { scope: 'row' }, `up to ${formatDuration(end)} `, marks),
        h('td', { class: 'number' }, formatNumber(paid)),
        h('td', {}, h('progress', { max: String(most), value: String(paid), 'aria-label': `${paid} of ${most}` })));
    }),
  );
}

function total({ orders, amounts }) {
  const sums = amounts.map(({ value, currency }) => formatMoney(value, currency)).join(', ');
  return `about ${formatNumber(orders)}${sums ? ` (${sums})` : ''}`;
}

function duration(iso) {
  return formatDuration(parseDuration(iso));
}

function joined(parts) {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]));
}
