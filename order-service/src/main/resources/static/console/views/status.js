import { badge, viewLink } from '../dom.js';
import { pluralize } from '../format.js';

// The system's status, as derived from the overview.

/** From this watermark lag on, the delay of due orders is shown as a warning. */
export const LONG_LAG_MILLIS = 5_000;

/** Problems that need an operator's attention, worst first, as pairs of badge level and content. */
export function problems(overview) {
  const { unservedShards, holds, stoppedTopics, overdue, parked, pauses } = overview;
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
    pauses.length > 0 && ['pause', viewLink('pauses', {}, pausedText(pauses))],
    rebuilding.length > 0 && ['wait', viewLink('shards', {},
      pluralize(rebuilding.length, 'shard is being rebuilt', 'shards are being rebuilt'))],
  ].filter(Boolean);
}

function heldShards(holds) {
  const shards = holds.map(({ shard }) => shard).join(', ');
  return holds.length === 1 ? `Shard ${shards} is` : `Shards ${shards} are`;
}

function pausedText(pauses) {
  return pauses.some(({ channel }) => channel === null)
    ? 'Expiry is paused: no order is cancelled'
    : `Expiry is paused for ${pluralize(new Set(pauses.map(({ channel }) => channel)).size, 'channel')}`;
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
