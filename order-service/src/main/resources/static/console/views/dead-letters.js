import { get, session } from '../api.js';
import { openChangeDialog, operatorButton } from '../dialog.js';
import { badge, clipped, emptyState, errorState, fact, h, loading, render, table, untrusted, viewLink } from '../dom.js';
import { formatNumber, pluralize, timeElement } from '../format.js';
import { viewHref } from '../urls.js';
import { orderLink } from './labels.js';
import { PAGE_SIZE, pagedList } from './paged-list.js';
import { bulkBar, MOST_SELECTED, resultNotice, Selection, selectionCell } from './selection.js';

/** The dead letters of one topic or all, or a single dead letter if the URL has its offset. */
export function deadLettersView(parameters, page) {
  return parameters.has('offset') ? singleLetter(parameters, page) : letterList(parameters, page);
}

function letterList(parameters, page) {
  const requests = new AbortController();
  const selected = parameters.get('topic');
  const fault = parameters.get('fault');
  const element = h('div', { class: 'view' }, loading('Reading from Kafka'));
  const notice = h('div');
  const groups = h('div', {}, loading('Counting'));
  let shown = () => {};
  const selection = new Selection(position, () => shown());

  async function load() {
    try {
      const [topics, stops] = await Promise.all([
        get('/api/v1/dead-letters', {}, requests.signal),
        get('/api/v1/stopped-topics', {}, requests.signal),
      ]);
      show(topics.data.map(({ topic }) => topic), stops.data);
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(element, errorState(error, load));
      }
    }
  }

  function show(topics, stops) {
    const wanted = selected ? [selected] : topics;
    const letters = pagedList({
      fetchPage: mergedPages(wanted, fault, requests.signal),
      emptyText: fault
        ? 'None of the latest dead letters has this error.'
        : 'No dead letters. Events that cannot be decoded or applied are kept here until they are replayed.',
      build: (items) => {
        const list = h('div', { class: 'results' });
        shown = () => render(list, bulkReplay(), letterTable(items, selection));
        selection.offer(items.slice(0, MOST_SELECTED));
        return list;
      },
    });
    render(element, stoppedTopics(stops, page), topicTabs(topics, selected));
    element.append(notice);
    if (fault) {
      element.append(h('p', { class: 'notice' }, 'Only dead letters with the error ', badge('bad', untrusted(fault)),
        ' ', viewLink('dead-letters', { topic: selected }, 'Show all')));
    } else {
      element.append(h('section', { class: 'card', 'aria-labelledby': 'by-error' },
        h('h2', { id: 'by-error' }, 'By error'), groups));
      loadGroups(wanted);
    }
    element.append(h('section', { class: 'card', 'aria-label': 'Dead letters' }, letters.element));
    letters.load();
  }

  async function loadGroups(topics) {
    try {
      const found = await Promise.all(topics.map((topic) =>
        get(`/api/v1/dead-letters/${encodeURIComponent(topic)}/groups`, {}, requests.signal)));
      render(groups, groupTable(found));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(groups, errorState(error, () => loadGroups(topics)));
      }
    }
  }

  function bulkReplay() {
    return bulkBar(selection, 'dead letter', 'shown here', operatorButton('Replay…', () => {
      const letters = selection.items();
      return openChangeDialog(page, {
        title: `Replay ${pluralize(letters.length, 'dead letter')}`,
        description: 'The records are published to their source topics again as they are, the oldest first, and '
          + 'processed like any other record.',
        confirm: 'Replay',
        path: '/api/v1/dead-letters/replay',
        body: () => ({
          positions: [...letters].reverse()
            .map(({ topic, partition, offset }) => ({ topic, partition, offset })),
        }),
        done: ({ data }) => {
          const replayed = data.filter(({ outcome }) => ['CHANGED', 'UNCHANGED'].includes(outcome)).length;
          const message = `${formatNumber(replayed)} of ${pluralize(data.length, 'dead letter')} replayed.`;
          render(notice, resultNotice(message, data, (letter) => viewLink('dead-letters', {
            topic: letter.topic, partition: letter.partition, offset: letter.offset,
          }, untrusted(position(letter)))));
          return message;
        },
      });
    }));
  }

  load();
  return { title: 'Dead letters', element, refresh: load, close: () => requests.abort() };
}

// The counts are of a limited number of letters, which the text states.
function groupTable(found) {
  const groups = found.flatMap(({ data }) => data).sort((a, b) => b.letters - a.letters);
  const counted = found.reduce((sum, { letters }) => sum + letters, 0);
  return groups.length === 0
    ? emptyState('No dead letters, and so no errors.')
    : [
        h('p', { class: 'minor' }, found.every(({ complete }) => complete)
          ? `All ${pluralize(counted, 'dead letter')}`
          : `The latest ${pluralize(counted, 'dead letter')}; there are older ones`),
        table(
          'Dead letters by error',
          ['Error', 'Topic', { text: 'Letters', class: 'number' }, { text: 'Replayed', class: 'number' }, 'First', 'Latest'],
          groups.map((group) => h('tr', { 'data-key': `${group.topic} ${group.fault}` },
            h('th', { scope: 'row' }, viewLink('dead-letters', { topic: group.topic, fault: group.fault },
              untrusted(group.fault || 'no error stated'))),
            h('td', {}, untrusted(group.topic)),
            h('td', { class: 'number' }, formatNumber(group.letters)),
            h('td', { class: 'number' }, formatNumber(group.replayed)),
            h('td', {}, timeElement(group.first)),
            h('td', {}, timeElement(group.latest)))),
          { class: 'cards' },
        ),
      ];
}

function stoppedTopics(stops, page) {
  return stops.length > 0 && h('section', { class: 'card', 'aria-labelledby': 'stopped' },
    h('h2', { id: 'stopped' }, 'Topics that are not read on'),
    h('ul', {}, stops.map((stop) => h('li', { class: 'item', 'data-key': stop.topic },
      h('div', {},
        badge('bad', untrusted(stop.topic)),
        h('p', { class: 'minor' }, 'Since ', timeElement(stop.beganAt)),
        h('p', {},
          `${formatNumber(stop.unusable)} of ${formatNumber(stop.records)} records at hand are unusable. The first is `,
          untrusted(stop.firstPosition), ': ', untrusted(stop.firstFault)),
        h('p', {}, 'Orders of these shards are not cancelled while their payments cannot be read. The topic is '
          + 'read on by itself once most records can be used.')),
      operatorButton('Permit dead letters…', () => permit(stop, page), {
        'aria-label': `Permit dead letters of ${stop.topic}`,
      })))));
}

function permit({ topic, firstFault }, page) {
  return openChangeDialog(page, {
    title: `Permit dead letters of ${topic}`,
    description: ['For an hour, unusable records of this topic become dead letters, which can be replayed, and '
      + 'the topic is read on. The first one: ', untrusted(firstFault)],
    confirm: 'Permit dead letters',
    danger: true,
    path: `/api/v1/stopped-topics/${encodeURIComponent(topic)}/permit-dead-letters`,
    done: () => `Unusable records of ${topic} become dead letters for an hour.`,
  });
}

function topicTabs(topics, selected) {
  return h('nav', { class: 'tabs', 'aria-label': 'Dead-letter topics' },
    h('ul', {}, [null, ...topics].map((topic) => h('li', {}, h('a', {
      href: viewHref('dead-letters', { topic }),
      'aria-current': topic === selected ? 'page' : null,
    }, topic ?? 'All')))));
}

function letterTable(letters, selection) {
  const isSelectable = session.operator;
  return table(
    'Dead letters, newest first',
    [...(isSelectable ? [''] : []), 'Time', 'Key', 'Error', 'Status', 'Source', { text: 'Bytes', class: 'number' }],
    letters.map((letter) => h('tr', { 'data-key': position(letter) },
      isSelectable && selectionCell(selection, letter, `Select dead letter ${position(letter)}`),
      h('th', { scope: 'row' }, viewLink('dead-letters', {
        topic: letter.topic, partition: letter.partition, offset: letter.offset,
      }, timeElement(letter.at))),
      h('td', {}, letter.key === null ? h('i', {}, 'none') : untrusted(letter.key, { class: 'id' })),
      h('td', {}, clipped(letter.error)),
      h('td', {}, replayStatus(letter.replay)),
      h('td', {}, untrusted(source(letter))),
      h('td', { class: 'number' }, formatNumber(letter.bytes)))),
    { class: isSelectable ? 'cards selectable' : 'cards' },
  );
}

function replayStatus(replay) {
  return replay === null
    ? badge('warn', 'Open')
    : [
        badge('ok', replay.corrected ? 'Corrected and replayed' : 'Replayed'),
        h('div', { class: 'minor' }, timeElement(replay.at), ' by ', untrusted(replay.by), ' as ', untrusted(replay.to)),
      ];
}

// Fetches the dead letters of several topics in order of time, page by page.
function mergedPages(topics, fault, signal) {
  return async (after) => {
    const lists = after ?? topics.map((topic) => ({ topic, letters: [], next: undefined }));
    const filled = await Promise.all(lists.map(async (list) => {
      if (list.letters.length >= PAGE_SIZE || list.next === null) {
        return list;
      }
      const { data, next } = await get(
        `/api/v1/dead-letters/${encodeURIComponent(list.topic)}`, { fault, after: list.next, limit: fault ? MOST_SELECTED : PAGE_SIZE },
        signal);
      return { ...list, letters: [...list.letters, ...data], next };
    }));
    const data = filled.flatMap(({ letters }) => letters)
      .sort((a, b) => b.at.localeCompare(a.at)).slice(0, PAGE_SIZE);
    const rest = filled.map((list) => ({ ...list, letters: list.letters.filter((letter) => !data.includes(letter)) }));
    const isLast = rest.every(({ letters, next }) => letters.length === 0 && next === null);
    return { data, next: isLast ? null : rest };
  };
}

function source({ originTopic, originPartition, originOffset }) {
  return position({ topic: originTopic, partition: originPartition, offset: originOffset });
}

function position({ topic, partition, offset }) {
  return `${topic}-${partition}@${offset}`;
}

function singleLetter(parameters, page) {
  const requests = new AbortController();
  const [topic, partition, offset] =
    ['topic', 'partition', 'offset'].map((name) => parameters.get(name) ?? '');
  const path = `/api/v1/dead-letters/${[topic, partition, offset].map(encodeURIComponent).join('/')}`;
  const element = h('div', { class: 'view' }, loading('Reading from Kafka'));

  async function load() {
    try {
      const [opened, replays] = await Promise.all([
        get(path, {}, requests.signal),
        get('/api/v1/audit', { subject: position({ topic, partition, offset }) }, requests.signal),
      ]);
      show(opened, replays.data);
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(element, error.status === 404
          ? emptyState('This dead letter does not exist. The topic’s retention may have deleted it.')
          : errorState(error, load));
      }
    }
  }

  function show(opened, replays) {
    const { letter, value, valueBase64, headers } = opened;
    render(
      element,
      replays.map(replayNotice),
      h('section', { class: 'card', 'aria-label': 'Record' },
        h('p', { class: 'big' }, badge('bad', untrusted(letter.error))),
        h('dl', { class: 'facts' },
          fact('Key', key(letter.key)),
          fact('Dead-lettered', timeElement(letter.at)),
          fact('Source', untrusted(source(letter))),
          fact('Position', position(letter)),
          fact('Size', pluralize(letter.bytes, 'byte')),
          Object.entries(headers).map(([name, text]) => fact(['Header ', untrusted(name)], untrusted(text)))),
        session.operator && h('div', { class: 'buttons' },
          operatorButton('Replay…', () => replay(opened, path, page)))),
      h('section', { class: 'card', 'aria-labelledby': 'value' },
        h('h2', { id: 'value' }, valueBase64 === null ? 'Value' : 'Value (binary, as Base64)'),
        value === null && valueBase64 === null
          ? emptyState('The record has no value.')
          : h('pre', { tabindex: '0', role: 'group', 'aria-labelledby': 'value' }, untrusted(value ?? valueBase64))),
      h('p', {}, viewLink('dead-letters', { topic }, 'All dead letters of this topic')),
    );
  }

  load();
  return { title: 'Dead letter', element, refresh: load, close: () => requests.abort() };
}

function key(text) {
  if (text === null) {
    return h('i', {}, 'none');
  }
  return text === '' ? h('i', {}, 'empty') : orderLink(text);
}

function replayNotice({ at, actor, after }) {
  return h('p', { class: 'notice' },
    badge('ok', 'Replayed at ', timeElement(at), ' by ', untrusted(actor)),
    after?.corrected ? ' with corrections, as ' : ' unchanged, as ',
    untrusted(after?.to ?? ''));
}

function replay({ letter, value }, path, page) {
  return openChangeDialog(page, {
    title: 'Replay dead letter',
    description: 'The record is published to its source topic again and processed like any other record. '
      + 'Times and ids that it does not state are those of the original record.',
    fields: [
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'replay-key' }, 'Key'),
        h('input', {
          id: 'replay-key', name: 'key', class: 'code', maxlength: '128', spellcheck: 'false', autocomplete: 'off',
          value: letter.key ?? '', 'aria-describedby': 'replay-key-hint',
        }),
        h('p', { class: 'hint', id: 'replay-key-hint' },
          'The order id. Leave it as it is to publish the record in its partition again.'),
      ),
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'replay-value' }, 'Value'),
        h('textarea', {
          id: 'replay-value', name: 'value', rows: '8', class: 'code', spellcheck: 'false',
          'aria-describedby': 'replay-hint',
        }, value ?? ''),
        h('p', { class: 'hint', id: 'replay-hint' }, value === null
          ? 'The value is not text. Leave this field empty to publish it unchanged.'
          : 'Correct the value here, or leave it as it is to publish it unchanged.'),
      ),
    ],
    confirm: 'Replay',
    path: `${path}/replay`,
    body: (data) => {
      // A textarea normalizes line endings.
      const edited = data.get('value').replaceAll('\r\n', '\n');
      const corrected = edited === (value ?? '').replaceAll('\r\n', '\n') ? {} : { value: edited };
      const newKey = data.get('key');
      return newKey === (letter.key ?? '') ? corrected : { ...corrected, key: newKey };
    },
    done: () => `Dead letter ${letter.partition}@${letter.offset} has been replayed.`,
  });
}
