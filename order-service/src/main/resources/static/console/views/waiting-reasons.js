import { untrusted, viewLink } from '../dom.js';
import { relativeTime, timeElement } from '../format.js';
import { pauseScope } from './labels.js';

// Why a pending order has not been decided. The API sends each reason as a type with its data;
// absent and null fields mean the same.

const REASONS = {
  'payment-deadline': ({ dueAt }, now) => [
    'The payment deadline, or a grace after it, has not passed. The order is due ', relativeTime(dueAt, now), ', at ', timeElement(dueAt), '.',
  ],
  parked: ({ reason, parkedAt }) => [
    'The order has been parked', parkedAt && [' since ', timeElement(parkedAt)],
    ' and waits for an operator to release it', because(reason),
  ],
  paused: ({ pauseId, channel, placedBy, reason, endsAt }, now) => [
    viewLink('pauses', {}, `Pause ${pauseId}`), ' suspends expiry for ',
    pauseScope(channel),
    endsAt ? [' until ', timeElement(endsAt), ` (${relativeTime(endsAt, now)})`] : ' until an operator ends it',
    '. Placed by ', untrusted(placedBy), because(reason),
  ],
  held: ({ holdId, shard, detail }) => [
    viewLink('pauses', {}, `Hold ${holdId}`), ` suspends expiry for shard ${shard} until an operator lifts it`,
    because(detail),
  ],
  'payment-under-way': ({ attemptId, until }, now) => [
    attemptId ? ['Payment attempt ', untrusted(attemptId)] : 'A payment',
    ' is under way. Unless it ends before, it keeps the order from being cancelled until ',
    timeElement(until), ` (${relativeTime(until, now)}).`,
  ],
  confirmation: ({ until }, now) => [
    'The shop has not confirmed that nothing can be paid any more. The order waits for it until ',
    timeElement(until), ` (${relativeTime(until, now)}).`,
  ],
  'unowned-shard': ({ shard }) => ['No instance owns ', shardLink(shard), '.'],
  watermark: ({ shard, instance }) => [
    'The payment watermark of ', shardLink(shard), ' has not reached the payment deadline.',
    instance && [' Instance ', untrusted(instance), ' owns the shard.'],
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
    untrusted(type),
    known.length > 0 && ': ',
    known.map(([name, value], i) => [
      i > 0 && ', ', untrusted(`${name} `), untrusted(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  ];
}

function because(text) {
  return text ? [': ', untrusted(text)] : '.';
}

function shardLink(shard) {
  return viewLink('shards', {}, `shard ${shard}`);
}
