import { get } from '../api.js';
import { textField } from '../ask.js';
import { address, foreign, h, table, to } from '../dom.js';
import { time } from '../format.js';
import { linkToOrder } from './words.js';
import { list } from './pauses.js';

const ON_A_PAGE = 50;

const KINDS = {
  EXTEND_ORDER: 'moved the deadline of',
  CLOSE_ORDER: 'closed',
  CANCEL_ORDER: 'asked to cancel',
  RELEASE_ORDER: 'released',
  PAUSE_EXPIRY: 'placed',
  RESUME_EXPIRY: 'ended',
  LIFT_HOLD: 'lifted',
  REPLAY_DEAD_LETTER: 'published again',
};

/** Who changed what, when and why. */
export function auditView(parameters) {
  const subject = parameters.get('subject');
  const open = new AbortController();
  const form = h(
    'form',
    { class: 'search', role: 'search', on: { submit } },
    textField('Only what was done to', 'subject', {
      type: 'search', value: subject, maxlength: '300', spellcheck: 'false', autocapitalize: 'none',
      placeholder: 'an order id, or the number of a pause',
    }),
    h('div', { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Show'),
      subject && to('audit', {}, 'Show all')),
  );
  const actions = list(
    (before) => get('/api/audit', { subject, before, limit: ON_A_PAGE }, open.signal),
    (last) => last.id,
    subject ? 'Nothing was done to it.' : 'Nothing was changed yet.',
    (all) => table(
      'What operators did, the latest first',
      ['When', 'Who', 'What', 'Why', 'From and to'],
      all.map((one) => h('tr', { 'data-key': String(one.id) },
        h('th', { scope: 'row' }, time(one.at)),
        h('td', {}, foreign(one.actor)),
        h('td', {}, `${KINDS[one.kind] ?? one.kind} `, about(one)),
        h('td', {}, foreign(one.reason)),
        h('td', {}, difference(one)))),
      { class: 'cards' },
    ),
  );

  function submit(event) {
    event.preventDefault();
    location.hash = address('audit', { subject: new FormData(form).get('subject') });
  }

  actions.load();
  return {
    title: 'Audit',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Filter' }, form),
      h('section', { class: 'card', 'aria-label': 'Actions' }, actions.element)),
    close: () => open.abort(),
  };
}

function about({ kind, subject }) {
  switch (kind) {
    case 'PAUSE_EXPIRY':
    case 'RESUME_EXPIRY':
      return to('pauses', {}, `pause ${subject}`);
    case 'LIFT_HOLD':
      return to('pauses', {}, `hold ${subject}`);
    case 'REPLAY_DEAD_LETTER': {
      const [, topic, partition, offset] = /^(.*)-(\d+)@(\d+)$/.exec(subject) ?? [];
      return topic
        ? to('dead-letters', { topic, partition, offset }, `dead letter ${partition}@${offset} of ${topic}`)
        : foreign(subject);
    }
    default:
      return ['order ', linkToOrder(subject)];
  }
}

// Told in other columns, or by the order itself.
const TOLD = new Set(['id', 'reason', 'orderId', 'placedBy', 'placedByKind', 'beganAt', 'endedBy']);

// What is not the same before and after, as far as it is known.
function difference({ before, after }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => before?.[name] !== after?.[name] && !TOLD.has(name));
  return changed.length === 0
    ? '–'
    : h('ul', { class: 'difference' }, changed
      .filter((name) => written(before?.[name]) !== '' || written(after?.[name]) !== '')
      .map((name) => h('li', {},
        h('span', { class: 'minor' }, `${inWords(name)} `),
        before && written(before[name]) !== '' && [shown(before[name]), ' → '],
        shown(after?.[name] ?? '–'))));
}

function inWords(name) {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function written(value) {
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  return value === null || value === undefined ? '' : String(value);
}

function shown(value) {
  const text = written(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? time(text) : foreign(text);
}
