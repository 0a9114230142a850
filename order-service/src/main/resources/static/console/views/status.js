import { badge, untrusted, viewLink } from '../dom.js';
import { formatMoney, formatNumber, pluralize } from '../format.js';

// The system's status, as derived from the overview.

/** From this watermark lag on, the delay of due orders is shown as a warning. */
export const LONG_LAG_MILLIS = 5_000;

/** Problems that need an operator's attention, worst first, as pairs of badge level and content. */
export function problems(overview) {
  const { unservedShards, holds, stoppedTopics, overdue, suspended, parked, pauses } = overview;
  const silent = overview.instances.filter((instance) => instance.silent);
  const reporting = reportingInstances(overview);
  const failing = [...new Set(reporting.flatMap(({ report }) => Object.keys(report.failingSeconds)))];
  const rebuilding = reporting.flatMap(({ report }) => report.shards.filter((shard) => shard.rebuilding));
  return [
    unservedShards.length > 0 && ['bad', viewLink('shards', {},
      `No instance owns ${unservedShards.length === 1 ? 'shard' : 'shards'} ${unservedShards.join(', ')}`)],
    holds.length > 0 && ['bad', viewLink('pauses', {},
      `${heldShards(holds)} held: payments may have been lost`)],
    stoppedTopics.length > 0 && ['bad', viewLink('dead-letters', {},
      `Not read on: ${stoppedTopics.map(({ topic }) => topic).join(', ')}`)],
    failing.length > 0 && ['bad', viewLink('shards', {}, `Failing: ${failing.join(', ')}`)],
    overdue > 0 && ['bad', viewLink('orders', { state: 'PENDING', dueTo: overview.at },
      pluralize(overdue, 'order is overdue', 'orders are overdue'))],
    silent.length > 0 && ['warn', viewLink('shards', {},
      pluralize(silent.length, 'instance is not reporting', 'instances are not reporting'))],
    parked > 0 && ['warn', viewLink('pauses', {},
      pluralize(parked, 'order is parked', 'orders are parked'))],
    pauses.length > 0 && ['pause', viewLink('pauses', {}, pausedText(overview))],
    suspended.orders > 0 && ['suspended', viewLink('orders', { state: 'PENDING', dueTo: overview.at },
      suspendedText(overview))],
    rebuilding.length > 0 && ['wait', viewLink('shards', {},
      pluralize(rebuilding.length, 'shard is being rebuilt', 'shards are being rebuilt'))],
  ].filter(Boolean);
}

function heldShards(holds) {
  const shards = holds.map(({ shard }) => shard).join(', ');
  return holds.length === 1 ? `Shard ${shards} is` : `Shards ${shards} are`;
}

/** Whether no order at all is cancelled, and so no payment is waited for. */
export function isAllPaused({ pauses }) {
  return pauses.some(({ channel }) => (channel ?? null) === null);
}

/** What is paused, in few words. */
function pausedText({ pauses }) {
  return isAllPaused({ pauses })
    ? 'Expiry is paused: no order is cancelled'
    : ['Expiry is paused for ', pausedScope({ pauses })];
}

/** The orders that the pauses cover, in few words. */
export function pausedScope({ pauses }) {
  const channels = [...new Set(pauses.map(({ channel }) => channel))];
  if (isAllPaused({ pauses })) {
    return 'all orders';
  }
  return channels.length === 1
    ? ['channel ', untrusted(channels[0], { class: 'clipped' })]
    : pluralize(channels.length, 'channel');
}

/** The orders past due that pauses or holds keep from being decided, with their amounts. */
export function suspendedText({ suspended, pauses, holds }) {
  const by = pauses.length === 0 ? 'by a shard hold'
    : holds.length > 0 ? 'by pauses and shard holds'
    : pauses.length > 1 ? 'by pauses' : 'by the pause';
  return `${totalText(suspended)}, held ${by}`;
}

/** A number of orders and what they amount to. */
export function totalText({ orders, amounts, complete = true }) {
  return [
    `${complete ? '' : 'at least '}${pluralize(orders, 'order')}`,
    ...moneyTexts(amounts),
  ].join(', ');
}

const MOST_CURRENCIES = 3;

/** Amounts as texts, the first few of them. */
export function moneyTexts(amounts) {
  const texts = amounts.filter(({ value }) => Number(value) !== 0)
    .map(({ value, currency }) => formatMoney(value, currency));
  return texts.length <= MOST_CURRENCIES
    ? texts
    : [...texts.slice(0, MOST_CURRENCIES), `${formatNumber(texts.length - MOST_CURRENCIES)} more currencies`];
}

/** The longest time, in milliseconds, that a due order has been waiting for its watermark. */
export function longestWatermarkLag(overview) {
  const lags = reportingInstances(overview).flatMap(({ report }) =>
    report.shards.map((shard) => shard.watermarkLagMillis));
  return Math.max(0, ...lags);
}

export function reportingInstances({ instances }) {
  return instances.filter((instance) => !instance.silent);
}

export function instanceBadge({ silent, report }) {
  if (silent) {
    return badge('bad', 'Not reporting');
  }
  return Object.keys(report.failingSeconds).length > 0 ? badge('bad', 'Failing') : badge('ok', 'Healthy');
}
