import { foreign, h, to } from '../dom.js';
import { fromNow, time } from '../format.js';

// Why a pending order has not been decided. The API sends each reason as a type with its data;
// absent and null fields mean the same.

const REASONS = {
  'payment-deadline': ({ dueAt }, now) => [
    'The payment deadline has not passed. The order is due ', fromNow(dueAt, now), ', at ', time(dueAt), '.',
  ],
  parked: ({ reason, parkedAt }) => [
    'The order has been parked', parkedAt && [' since ', time(parkedAt)],
    ' and waits for an operator to release it', because(reason),
  ],
  paused: ({ pauseId, channel, placedBy, reason, endsAt }, now) => [
    to('pauses', {}, `Pause ${pauseId}`), ' suspends expiry for ',
    channel ? ['channel ', foreign(channel)] : 'all orders',
    endsAt ? [' until ', time(endsAt), ` (${fromNow(endsAt, now)})`] : ' until an operator ends it',
    '. Placed by ', foreign(placedBy), because(reason),
  ],
  held: ({ holdId, shard, detail }) => [
    to('pauses', {}, `Hold ${holdId}`), ` suspends expiry for shard ${shard} until an operator lifts it`,
    because(detail),
  ],
  'unowned-shard': ({ shard }) => ['No instance owns ', shardLink(shard), '.'],
  watermark: ({ shard, instance }) => [
    'The payment watermark of ', shardLink(shard), ' has not reached the payment deadline.',
    instance && [' Instance ', foreign(instance), ' owns the shard.'],
  ],
};

/** Renders one reason as a sentence; a type that this version does not know, by its name and data. */
export function waitingReason(reason, now) {
  return Object.hasOwn(REASONS, reason.type)
    ? REASONS[reason.type](reason, now)
    : unknownReason(reason);
}

function unknownReason({ type, ...data }) {
  const known = Object.entries(data).filter(([, value]) => value !== null);
  return [
    foreign(type),
    known.length > 0 && ': ',
    known.map(([name, value], i) => [
      i > 0 && ', ', foreign(`${name} `), foreign(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  ];
}

function because(text) {
  return text ? [': ', foreign(text)] : '.';
}

function shardLink(shard) {
  return to('shards', {}, `shard ${shard}`);
}
