import { get } from '../api.js';
import { openChangeDialog, operatorButton } from '../dialog.js';
import { badge, emptyState, h, loading, printable, render, untrusted, viewLink } from '../dom.js';
import { newId, radioGroup, textField, timeField } from '../fields.js';
import {
  formatDuration, formatNumber, fromLocalInput, pluralize, relativeTime, timeElement,
} from '../format.js';
import { pauseScope } from './labels.js';
import { moneyTexts, pausedScope, totalText } from './status.js';

// Pauses and holds, with the changes that operators can make to them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Beyond so many orders, the end of a pause has to be confirmed by typing their number. */
const MOST_UNCONFIRMED = 1_000;

/** Longer channels are cut off where a list offers them. */
const MAX_OPTION_LENGTH = 60;

/** In the header of every page: what is paused, and for operators the button to pause. */
export function pauseControl(page) {
  const overview = page.overview();
  return [
    overview !== null && overview.pauses.length > 0 && badge('pause', viewLink('pauses', {},
      'Paused: ', pausedScope(overview))),
    operatorButton('Pause expiry…', () => pauseExpiry(page), { 'data-key': 'pause' }),
  ];
}

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
        hold.reason === 'LOST_RECORDS' ? 'Payments or closures may have been lost: ' : `${hold.reason}: `,
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
        pause.moveDeadlines ? '; extends deadlines.' : '; keeps deadlines.',
      ),
      h('p', {}, untrusted(pause.reason)),
    ),
    operatorButton('End pause', () => endPause(pause, page), {
      'aria-label': `End pause ${pause.id}`,
    }),
  );
}

function pauseExpiry(page) {
  const forecast = page.overview()?.forecast;
  const known = (forecast?.channels ?? []).filter(({ channel }) => channel !== null);
  const scope = scopeField(forecast, known);
  const channel = textField('Channel', 'channel', { maxlength: '1000', on: { input: showEffect } });
  const effect = h('div', { class: 'effect', 'aria-live': 'polite' });
  const select = scope.querySelector('select');
  select.addEventListener('input', showEffect);

  function chosen() {
    if (select.value === ALL) {
      return null;
    }
    return select.value === ANOTHER
      ? channel.querySelector('input').value
      : known[Number(select.value)].channel;
  }

  function showEffect() {
    channel.hidden = select.value !== ANOTHER;
    render(effect, pauseEffect(chosen(), forecast, known));
  }

  showEffect();
  return openChangeDialog(page, {
    title: 'Pause expiry',
    description: 'While the pause is in force, no instance cancels the orders that it covers. Payments are still processed.',
    fields: [
      h('div', { class: 'pair' },
        h('div', { class: 'field' }, scope, channel),
        timeField('End automatically at (optional)', 'endsAt', null, [
          ['in 15 min', 15 * MINUTE], ['in 1 h', HOUR], ['in 4 h', 4 * HOUR],
        ], page.now)),
      effect,
      radioGroup('Payment deadlines', 'deadlines', [
        ['extend', 'Extend deadlines by the time that each order was paused'],
        ['keep', 'Keep deadlines: due orders are cancelled when the pause ends'],
      ], 'extend'),
    ],
    confirm: 'Pause expiry',
    danger: true,
    reason: 'The cause is being examined',
    path: '/api/v1/pauses',
    body: (data) => {
      if (chosen() === '') {
        throw new Error('Enter a channel.');
      }
      return {
        channel: chosen(),
        moveDeadlines: data.get('deadlines') === 'extend',
        endsAt: fromLocalInput(data.get('endsAt')),
      };
    },
    done: ({ id }) => `Pause ${id} is in force.`,
  });
}

const ALL = 'all';
const ANOTHER = 'another';

function scopeField(forecast, known) {
  const id = newId('scope');
  const hour = forecast?.within.at(-1);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, 'Scope'),
    h('select', { id, name: 'scope' },
      h('option', { value: ALL }, `All orders${hour ? ` (${formatNumber(hour.orders)} due within the hour)` : ''}`),
      known.map(({ channel, orders }, i) =>
        h('option', { value: String(i) }, `Channel ${optionText(channel)} (${formatNumber(orders)})`)),
      h('option', { value: ANOTHER }, 'Another channel…')),
  );
}

function optionText(channel) {
  const text = printable(channel);
  return text.length > MAX_OPTION_LENGTH ? `${text.slice(0, MAX_OPTION_LENGTH)}…` : text;
}

// What a pause would hold within the next hour.
function pauseEffect(channel, forecast, known) {
  if (channel === '' || !forecast) {
    return null;
  }
  const due = channel === null
    ? forecast.within.at(-1)
    : known.find((one) => one.channel === channel);
  if (!due) {
    return badge('warn', 'No order that comes due within the next hour has the channel ',
      untrusted(channel), '. Check its spelling: the pause covers nothing else.');
  }
  return h('p', {}, 'The pause covers ', h('strong', {}, pluralize(due.orders, 'order')),
    moneyTexts(due.amounts).length > 0 && [' worth ', h('strong', {}, moneyTexts(due.amounts).join(', '))],
    due.orders === 1 ? ' that comes' : ' that come',
    ' due within the next hour, unless paid before, and those created meanwhile.');
}

function endPause(pause, page) {
  const shown = h('div', { class: 'effect', 'aria-live': 'polite' },
    loading('Counting the orders that the pause holds'));
  const confirmation = h('div');
  // What has to be typed: undefined until the effect is known, null for nothing.
  let typed;

  function ask(text, label) {
    typed = text;
    render(confirmation, text !== null && textField(label, 'confirmation', { inputmode: 'numeric', required: true }));
  }

  get(`/api/v1/pauses/${pause.id}/effect`).then(
    (effect) => {
      render(shown, endEffect(effect, page.now()));
      const { orders, complete } = effect.cancelled;
      const many = orders > MOST_UNCONFIRMED || !complete;
      ask(many ? String(orders) : null, `To confirm, type the number of orders: ${orders}`);
    },
    (error) => {
      render(shown, badge('warn', `The orders that the pause holds could not be counted: ${error.message}`));
      ask(String(pause.id), `To end it nevertheless, type the number of the pause: ${pause.id}`);
    },
  );

  return openChangeDialog(page, {
    title: `End pause ${pause.id}`,
    description: ['Covers ', pauseScope(pause.channel), '; in force since ', timeElement(pause.beganAt), '.'],
    fields: [shown, confirmation],
    confirm: 'End pause',
    danger: true,
    path: `/api/v1/pauses/${pause.id}/end`,
    body: (data) => {
      if (typed === undefined) {
        throw new Error('The orders are still being counted.');
      }
      if (typed !== null && data.get('confirmation').replace(/\D/g, '') !== typed) {
        throw new Error(`Type ${typed} to confirm.`);
      }
      return {};
    },
    done: () => `Pause ${pause.id} has ended.`,
  });
}

// What the end of a pause does to the orders that it holds.
function endEffect({ cancelled, moved, suspended, maxPerSecond }, now) {
  return [
    cancelled.orders > 0
      ? h('p', {}, badge('bad', h('strong', {}, totalText(cancelled)),
          cancelled.orders === 1 ? ' is cancelled at once' : ' are cancelled at once'),
        ' unless payments for them are found. The earliest deadline was ', timeElement(cancelled.earliest),
        ` (${relativeTime(cancelled.earliest, now)}). `, rate(cancelled, maxPerSecond))
      : h('p', {}, badge('ok', 'No order is cancelled at once')),
    moved.orders > 0 && h('p', {}, h('strong', {}, totalText(moved)),
      moved.orders === 1 ? ' that came due gets' : ' that came due get',
      ' a later deadline instead, by the time that each was paused. The first of them is due ',
      relativeTime(moved.earliest, now), ', at ', timeElement(moved.earliest), '.'),
    suspended.orders > 0 && h('p', {}, h('strong', {}, totalText(suspended)),
      suspended.orders === 1 ? ' stays' : ' stay', ' held by another pause or a shard hold.'),
  ];
}

function rate({ orders }, maxPerSecond) {
  return maxPerSecond === null || maxPerSecond === undefined
    ? 'Nothing limits their rate (order-timeout.expiry.max-rate): usually thousands are cancelled per second.'
    : `At most ${formatNumber(maxPerSecond)} are cancelled per second, so it takes about ${
      formatDuration(Math.max(1, Math.ceil(orders / maxPerSecond)) * 1_000)}.`;
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
