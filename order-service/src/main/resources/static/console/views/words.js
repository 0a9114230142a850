import { session } from '../api.js';
import { ask, choice, textField, timeField } from '../ask.js';
import { badge, foreign, h, orderId, to } from '../dom.js';
import { counted, fromNow, instantOf, time } from '../format.js';

// What several views say in the same words, and the changes that they offer.

const STATES = {
  PENDING: ['wait', 'Pending'],
  PAID: ['ok', 'Paid'],
  CLOSED: ['closed', 'Closed'],
  CANCELLED: ['bad', 'Cancelled'],
};

export function state(of) {
  const [meaning, text] = STATES[of] ?? ['info', of];
  return badge(meaning, text);
}

export const STATE_NAMES = Object.entries(STATES).map(([name, [, text]]) => [name, text]);

export function linkToOrder(id) {
  return to('order', { id }, orderId(id));
}

/** A button that changes something; only operators see one. */
export function action(text, run, attributes = {}) {
  return session.operator
    ? h('button', { type: 'button', on: { click: run }, ...attributes }, text)
    : null;
}

/** A pause, as an item of a list. */
export function pauseItem(pause, page) {
  return h(
    'li',
    { class: 'item', 'data-key': `pause-${pause.id}` },
    h(
      'div',
      {},
      badge('pause', 'Paused: ', scope(pause)),
      h(
        'p',
        { class: 'minor' },
        'By ', foreign(pause.placedBy),
        pause.placedByKind === 'BREAKER' && ' (the breaker)',
        ' since ', time(pause.beganAt), '; ',
        pause.endsAt ? ['ends ', time(pause.endsAt), `, ${fromNow(pause.endsAt, page.now())}`] : 'until it is ended',
        pause.movesDeadlines ? '; deadlines move by its length.' : '; deadlines stay.',
      ),
      h('p', {}, foreign(pause.reason)),
    ),
    action('End the pause', () => endPause(pause, page), {
      'aria-label': `End pause ${pause.id}`,
    }),
  );
}

export function scope(pause) {
  return pause.channel === null ? 'all orders' : ['channel ', foreign(pause.channel)];
}

/** A hold, as an item of a list. */
export function holdItem(hold, page) {
  return h(
    'li',
    { class: 'item', 'data-key': `hold-${hold.id}` },
    h(
      'div',
      {},
      badge('bad', `Shard ${hold.shard} is held`),
      h('p', { class: 'minor' }, 'Since ', time(hold.placedAt)),
      h('p', {}, hold.reason === 'LOST_RECORDS' ? 'Payments or closings may be lost: ' : `${hold.reason}: `, foreign(hold.detail)),
    ),
    action('Lift the hold', () => liftHold(hold, page), {
      'aria-label': `Lift the hold of shard ${hold.shard}`,
    }),
  );
}

export async function pauseExpiry(page) {
  const channel = textField('Channel', 'channel', { maxlength: '1000' });
  const end = timeField('It ends by itself at', 'endsAt', null, [
    ['in 15 min', 900_000], ['in 1 h', 3_600_000], ['in 4 h', 14_400_000],
  ], page.now);
  const answer = await ask({
    title: 'Pause expiry',
    about: 'While the pause is in force no order that it holds is cancelled, by any instance. Payments are still taken.',
    fields: [
      choice('Which orders', 'scope', [
        ['all', 'All orders'],
        ['channel', 'Those of one channel'],
      ], 'all'),
      channel,
      choice('What becomes of deadlines', 'moves', [
        ['stay', 'They stay: what came due meanwhile is cancelled when the pause ends'],
        ['move', 'They move by the part of the pause that their orders lived through'],
      ]),
      end,
      h('p', { class: 'hint' }, 'Without an end it stays in force until it is ended by hand.'),
    ],
    confirm: 'Pause',
    danger: true,
    path: '/api/pauses',
    body: (data) => {
      const name = data.get('channel');
      const one = data.get('scope') === 'channel';
      if (one && name === '') {
        throw new Error('Name the channel.');
      }
      if (!one && name !== '') {
        throw new Error('All orders are chosen, and yet a channel is named.');
      }
      return {
        channel: one ? name : null,
        moveDeadlines: data.get('moves') === 'move',
        endsAt: instantOf(data.get('endsAt')),
      };
    },
  });
  if (answer) {
    page.tell(`Pause ${answer.subject} is in force.`);
    page.refresh();
  }
}

export async function endPause(pause, page) {
  const answer = await ask({
    title: `End pause ${pause.id}`,
    about: pause.movesDeadlines
      ? 'Orders that came due meanwhile have their deadlines moved, and are cancelled when those have passed.'
      : 'Orders that came due meanwhile are cancelled at once, unless a payment of theirs is there by then.',
    confirm: 'End the pause',
    danger: true,
    path: `/api/pauses/${pause.id}/end`,
  });
  if (answer) {
    page.tell(`Pause ${pause.id} has ended.`);
    page.refresh();
  }
}

async function liftHold(hold, page) {
  const answer = await ask({
    title: `Lift the hold of shard ${hold.shard}`,
    about: 'Payments may be gone that were never read. Publish again what you know to be paid first: unpaid orders of the shard are cancelled once it is lifted.',
    confirm: 'Lift the hold',
    danger: true,
    path: `/api/holds/${hold.id}/lift`,
  });
  if (answer) {
    page.tell(`The hold of shard ${hold.shard} is lifted.`);
    page.refresh();
  }
}

/**
 * What an operator has to know about, worst first: pairs of a meaning and what to say. Empty if
 * there is nothing.
 */
export function concerns(now) {
  const silent = now.instances.filter((instance) => instance.silent);
  const present = now.instances.filter((instance) => !instance.silent);
  const failing = [...new Set(present.flatMap(({ report }) => Object.keys(report.failingSeconds)))];
  const rebuilding = present.flatMap(({ report }) => report.shards.filter((s) => s.rebuilding));
  return [
    now.unservedShards.length > 0 && ['bad', to('shards', {},
      `${now.unservedShards.length === 1 ? 'Shard' : 'Shards'} ${now.unservedShards.join(', ')} ${now.unservedShards.length === 1 ? 'is' : 'are'} served by no instance`)],
    now.holds.length > 0 && ['bad', to('pauses', {},
      `${now.holds.length === 1 ? 'Shard' : 'Shards'} ${now.holds.map((hold) => hold.shard).join(', ')} held: payments may be lost`)],
    failing.length > 0 && ['bad', to('shards', {}, `Failing: ${failing.join(', ')}`)],
    now.overdue > 0 && ['bad', to('orders', { state: 'PENDING', dueTo: now.at },
      `${counted(now.overdue, 'order is overdue', 'orders are overdue')}`)],
    silent.length > 0 && ['warn', to('shards', {},
      `${counted(silent.length, 'instance has', 'instances have')} fallen silent`)],
    now.parked > 0 && ['warn', to('pauses', {},
      `${counted(now.parked, 'order is parked', 'orders are parked')}`)],
    now.pauses.length > 0 && ['pause', to('pauses', {},
      now.pauses.some((pause) => pause.channel === null)
        ? 'Expiry is paused: nothing is cancelled'
        : `Expiry is paused for ${counted(now.pauses.length, 'channel')}`)],
    rebuilding.length > 0 && ['wait', to('shards', {},
      `${counted(rebuilding.length, 'shard is being', 'shards are being')} rebuilt`)],
  ].filter(Boolean);
}

/** The longest that any due order has been held for its watermark, in milliseconds. */
export function longestLag(now) {
  const lags = now.instances
    .filter((instance) => !instance.silent)
    .flatMap(({ report }) => report.shards.map((shard) => shard.watermarkLagMillis));
  return Math.max(0, ...lags);
}

