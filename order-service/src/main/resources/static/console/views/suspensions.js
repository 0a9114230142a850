import { openChangeDialog, operatorButton } from '../dialog.js';
import { badge, emptyState, h, untrusted } from '../dom.js';
import { radioGroup, textField, timeField } from '../fields.js';
import { fromLocalInput, relativeTime, timeElement } from '../format.js';
import { pauseScope } from './labels.js';

// Pauses and holds, with the changes that operators can make to them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A list of holds and pauses in force, or a text if there are none. */
export function suspensionList(page, { holds = [], pauses = [] }, emptyText) {
  return holds.length + pauses.length === 0
    ? emptyState(emptyText)
    : h('ul', {},
        holds.map((hold) => holdItem(hold, page)),
        pauses.map((pause) => pauseItem(pause, page)));
}

function holdItem(hold, page) {
  return h(
    'li',
    { class: 'item', 'data-key': `hold-${hold.id}` },
    h(
      'div',
      {},
      badge('bad', `Shard ${hold.shard} is held`),
      h('p', { class: 'minor' }, 'Since ', timeElement(hold.placedAt)),
      h('p', {},
        hold.reason === 'LOST_RECORDS' ? 'Payments or closings may have been lost: ' : `${hold.reason}: `,
        untrusted(hold.detail)),
    ),
    operatorButton('Lift hold', () => liftHold(hold, page), {
      'aria-label': `Lift hold on shard ${hold.shard}`,
    }),
  );
}

function pauseItem(pause, page) {
  return h(
    'li',
    { class: 'item', 'data-key': `pause-${pause.id}` },
    h(
      'div',
      {},
      badge('pause', 'Paused: ', pauseScope(pause.channel)),
      h(
        'p',
        { class: 'minor' },
        'Placed by ', pause.placedByKind === 'BREAKER' ? 'the circuit breaker' : untrusted(pause.placedBy),
        '; in force since ', timeElement(pause.beganAt),
        pause.endsAt
          ? [' until ', timeElement(pause.endsAt), ` (${relativeTime(pause.endsAt, page.now())})`]
          : ' until an operator ends it',
        pause.movesDeadlines ? '; extends deadlines.' : '; keeps deadlines.',
      ),
      h('p', {}, untrusted(pause.reason)),
    ),
    operatorButton('End pause', () => endPause(pause, page), {
      'aria-label': `End pause ${pause.id}`,
    }),
  );
}

export function pauseExpiryButton(page) {
  return operatorButton('Pause expiry…', () => pauseExpiry(page));
}

function pauseExpiry(page) {
  return openChangeDialog(page, {
    title: 'Pause expiry',
    description: 'While the pause is in force, no instance cancels the orders that it covers. Payments are still processed.',
    fields: [
      radioGroup('Orders', 'scope', [['all', 'All orders'], ['channel', 'One channel']], 'all'),
      textField('Channel', 'channel', { maxlength: '1000' }),
      radioGroup('Payment deadlines', 'deadlines', [
        ['keep', 'Keep deadlines: due orders are cancelled when the pause ends'],
        ['extend', 'Extend deadlines by the time that each order was paused'],
      ]),
      timeField('End automatically at', 'endsAt', null, [
        ['in 15 min', 15 * MINUTE], ['in 1 h', HOUR], ['in 4 h', 4 * HOUR],
      ], page.now),
      h('p', { class: 'hint' }, 'Without an end time, the pause stays in force until an operator ends it.'),
    ],
    confirm: 'Pause expiry',
    danger: true,
    path: '/api/v1/pauses',
    body: (data) => {
      const channel = data.get('channel');
      const oneChannel = data.get('scope') === 'channel';
      if (oneChannel && channel === '') {
        throw new Error('Enter a channel.');
      }
      if (!oneChannel && channel !== '') {
        throw new Error('Select “One channel”, or clear the channel to pause all orders.');
      }
      return {
        channel: oneChannel ? channel : null,
        moveDeadlines: data.get('deadlines') === 'extend',
        endsAt: fromLocalInput(data.get('endsAt')),
      };
    },
    done: ({ subject }) => `Pause ${subject} is in force.`,
  });
}

function endPause(pause, page) {
  return openChangeDialog(page, {
    title: `End pause ${pause.id}`,
    description: pause.movesDeadlines
      ? 'Orders that became due during the pause have their deadlines extended. Those still unpaid at the new deadline are cancelled.'
      : 'Orders that became due during the pause are cancelled immediately, unless they have been paid.',
    confirm: 'End pause',
    danger: true,
    path: `/api/v1/pauses/${pause.id}/end`,
    done: () => `Pause ${pause.id} has ended.`,
  });
}

function liftHold(hold, page) {
  return openChangeDialog(page, {
    title: `Lift hold on shard ${hold.shard}`,
    description: 'Payments may have been lost before the service read them. First republish the payments that you know of: once the hold is lifted, due orders of this shard are cancelled if no payment is known.',
    confirm: 'Lift hold',
    danger: true,
    path: `/api/v1/holds/${hold.id}/lift`,
    done: () => `The hold on shard ${hold.shard} has been lifted.`,
  });
}
