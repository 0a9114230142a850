import { get } from '../api.js';
import { h, table, untrusted, viewLink } from '../dom.js';
import { textField } from '../fields.js';
import { timeElement } from '../format.js';
import { viewHref } from '../urls.js';
import { orderLink } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';

// Each is followed by the subject.
const ACTIONS = {
  EXTEND_ORDER: 'extended the deadline of',
  CLOSE_ORDER: 'closed',
  CANCEL_ORDER: 'requested the cancellation of',
  RELEASE_ORDER: 'released',
  RESOLVE_CONFLICT: 'ended a conflict of',
  PAUSE_EXPIRY: 'placed',
  RESUME_EXPIRY: 'ended',
  LIFT_HOLD: 'lifted',
  REPLAY_DEAD_LETTER: 'replayed',
  PERMIT_DEAD_LETTERS: 'permitted dead letters of',
  ADVANCE_GROUP: 'left',
};

/** The audit log: who changed what, when and why. */
export function auditView(parameters) {
  const subject = parameters.get('subject');
  const requests = new AbortController();
  const form = h(
    'form',
    { class: 'search', role: 'search', on: { submit } },
    textField('Subject', 'subject', {
      type: 'search', value: subject, maxlength: '300', spellcheck: 'false', autocapitalize: 'none',
      placeholder: 'Order ID, or number of a pause or hold',
    }),
    h('div', { class: 'buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Filter'),
      subject && viewLink('audit', {}, 'Clear filter')),
  );
  const actions = pagedList({
    fetchPage: (after) =>
      get('/api/v1/audit', { subject, after, limit: PAGE_SIZE }, requests.signal),
    emptyText: subject
      ? 'No actions are recorded for this subject.'
      : 'No actions are recorded yet. Each change that an operator makes is listed here with its reason.',
    build: (items) => table(
      'Audit log, newest first',
      ['Time', 'Actor', 'Action', 'Reason', 'Changes'],
      items.map((action) => h('tr', { 'data-key': String(action.id) },
        h('th', { scope: 'row' }, timeElement(action.at)),
        h('td', {}, untrusted(action.actor)),
        h('td', {}, `${ACTIONS[action.kind] ?? action.kind} `, subjectOf(action)),
        h('td', {}, untrusted(action.reason)),
        h('td', {}, changes(action)))),
      { class: 'cards' },
    ),
  });

  function submit(event) {
    event.preventDefault();
    location.hash = viewHref('audit', { subject: new FormData(form).get('subject') });
  }

  actions.load();
  return {
    title: 'Audit log',
    element: h('div', { class: 'view' },
      h('section', { class: 'card', 'aria-label': 'Filter' }, form),
      h('section', { class: 'card', 'aria-label': 'Actions' }, actions.element)),
    close: () => requests.abort(),
  };
}

function subjectOf({ kind, subject }) {
  switch (kind) {
    case 'PAUSE_EXPIRY':
    case 'RESUME_EXPIRY':
      return viewLink('pauses', {}, `pause ${subject}`);
    case 'LIFT_HOLD':
      return viewLink('pauses', {}, `hold ${subject}`);
    case 'PERMIT_DEAD_LETTERS':
      return ['topic ', untrusted(subject)];
    case 'ADVANCE_GROUP':
      return ['consumer group ', untrusted(subject)];
    case 'REPLAY_DEAD_LETTER': {
      const [, topic, partition, offset] = /^(.*)-(\d+)@(\d+)$/.exec(subject) ?? [];
      return topic
        ? viewLink('dead-letters', { topic, partition, offset }, `dead letter ${partition}@${offset} of ${topic}`)
        : untrusted(subject);
    }
    default:
      return ['order ', orderLink(subject)];
  }
}

// Shown in another column or obvious from the action.
const OMITTED_FIELDS = new Set([
  'id', 'reason', 'orderId', 'placedBy', 'placedByKind', 'beganAt', 'endedBy',
  'extendedUntil',
]);

function changes({ before, after }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => before?.[name] !== after?.[name] && !OMITTED_FIELDS.has(name));
  return changed.length === 0
    ? '–'
    : h('ul', { class: 'changes' }, changed
      .filter((name) => asText(before?.[name]) !== '' || asText(after?.[name]) !== '')
      .map((name) => h('li', {},
        h('span', { class: 'minor' }, `${fieldLabel(name)} `),
        before && asText(before[name]) !== '' && [fieldValue(before[name]), ' → '],
        fieldValue(after?.[name] ?? '–'))));
}

function fieldLabel(name) {
  return name === 'moveDeadlines' ? 'extends deadlines' : camelCaseToWords(name);
}

function camelCaseToWords(name) {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function asText(value) {
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  return String(value ?? '');
}

function fieldValue(value) {
  const text = asText(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? timeElement(text) : untrusted(text);
}
