import { get, session } from '../api.js';
import { ask } from '../ask.js';
import { address, badge, empty, fact, failed, foreign, h, loading, render, table, to } from '../dom.js';
import { count, counted, time } from '../format.js';
import { list } from './pauses.js';
import { action, linkToOrder } from './words.js';

const ON_A_PAGE = 50;

/** The dead letters of a topic, or one of them, opened. */
export function deadLettersView(parameters, page) {
  return parameters.has('offset') ? oneLetter(parameters, page) : letters(parameters);
}

function letters(parameters) {
  const open = new AbortController();
  const element = h('div', { class: 'view' }, loading('Asking Kafka'));

  async function load() {
    let topics;
    try {
      topics = await get('/api/dead-letters', {}, open.signal);
    } catch (problem) {
      if (problem.name !== 'AbortError') {
        render(element, failed(problem, load));
      }
      return;
    }
    const only = parameters.get('topic');
    const found = list(
      async (shown = []) => {
        const pages = await Promise.all((only ? [only] : topics).map((topic) => get(
          `/api/dead-letters/${encodeURIComponent(topic)}`,
          { before: lowest(shown.filter((letter) => letter.topic === topic)), limit: ON_A_PAGE },
          open.signal,
        )));
        return pages.flat().sort((a, b) => b.at.localeCompare(a.at)).slice(0, ON_A_PAGE);
      },
      (last, all) => all,
      'No dead letters. All that came could be read.',
      (all) => table(
        'Dead letters, the latest first',
        ['Put aside', 'Key', 'Why', 'Came from', { text: 'Bytes', class: 'number' }],
        all.map((letter) => h('tr', { 'data-key': `${letter.topic}-${letter.partition}@${letter.offset}` },
          h('th', { scope: 'row' }, to('dead-letters', place(letter), time(letter.at))),
          h('td', {}, letter.key === null ? h('i', {}, 'none') : foreign(letter.key, { class: 'id' })),
          h('td', {}, foreign(letter.error)),
          h('td', {}, foreign(origin(letter))),
          h('td', { class: 'number' }, count(letter.bytes)))),
        { class: 'cards' },
      ),
    );
    render(
      element,
      h('nav', { class: 'tabs', 'aria-label': 'Dead-letter topics' }, h('ul', {}, [null, ...topics].map((topic) =>
        h('li', {}, h('a', {
          href: address('dead-letters', { topic }),
          'aria-current': topic === only ? 'page' : null,
        }, topic ?? 'All'))))),
    );
    element.append(h('section', { class: 'card', 'aria-label': 'Dead letters' }, found.element));
    found.load();
  }

  load();
  return { title: 'Dead letters', element, close: () => open.abort() };
}

// Where each partition is read on: below all that is shown of it.
function lowest(all) {
  const offsets = new Map();
  for (const { partition, offset } of all) {
    offsets.set(partition, Math.min(offset, offsets.get(partition) ?? offset));
  }
  return [...offsets].map(([partition, offset]) => `${partition}:${offset}`);
}

function origin({ originTopic, originPartition, originOffset }) {
  return `${originTopic}-${originPartition}@${originOffset}`;
}

function place({ topic, partition, offset }) {
  return { topic, partition, offset };
}

function oneLetter(parameters, page) {
  const open = new AbortController();
  const topic = parameters.get('topic') ?? '';
  const partition = parameters.get('partition') ?? '';
  const offset = parameters.get('offset') ?? '';
  const path = `/api/dead-letters/${[topic, partition, offset].map(encodeURIComponent).join('/')}`;
  const element = h('div', { class: 'view' }, loading('Asking Kafka'));

  async function load() {
    try {
      const [letter, actions] = await Promise.all([
        get(path, {}, open.signal),
        get('/api/audit', { subject: `${topic}-${partition}@${offset}` }, open.signal),
      ]);
      show(letter, actions);
    } catch (problem) {
      if (problem.name !== 'AbortError') {
        render(element, problem.status === 404
          ? empty('There is no such dead letter; it may have been deleted by its topic’s retention.')
          : failed(problem, load));
      }
    }
  }

  function show(opened, actions) {
    const { letter, value, valueBase64, headers } = opened;
    render(
      element,
      actions.map(({ at, actor, after }) => h('p', { class: 'notice' },
        badge('ok', 'Published again ', time(at), ' by ', foreign(actor)),
        after?.corrected ? ', mended, as ' : ', as it was, as ', foreign(after?.to ?? ''))),
      h('section', { class: 'card', 'aria-label': 'Outside' },
        h('p', { class: 'big' }, badge('bad', foreign(letter.error))),
        h('dl', { class: 'facts' },
          fact('Key', letter.key === null ? h('i', {}, 'none') : letter.key === '' ? h('i', {}, 'empty') : linkToOrder(letter.key)),
          fact('Put aside', time(letter.at)),
          fact('Came from', foreign(origin(letter))),
          fact('Place', `${letter.topic}-${letter.partition}@${letter.offset}`),
          fact('Length', counted(letter.bytes, 'byte')),
          Object.entries(headers).map(([name, text]) => fact(['Header ', foreign(name)], foreign(text)))),
        session.operator && h('div', { class: 'buttons' },
          action('Replay …', () => replay(opened, path, page)))),
      h('section', { class: 'card', 'aria-labelledby': 'value' },
        h('h2', { id: 'value' }, valueBase64 === null ? 'Value' : 'Value, which is no text, in Base64'),
        value === null && valueBase64 === null
          ? empty('It has no value.')
          : h('pre', { tabindex: '0', role: 'group', 'aria-labelledby': 'value' }, foreign(value ?? valueBase64))),
      h('p', {}, to('dead-letters', { topic }, 'All dead letters of this topic')),
    );
  }

  load();
  return { title: 'Dead letter', element, refresh: load, close: () => open.abort() };
}

async function replay({ letter, value }, path, page) {
  const answer = await ask({
    title: 'Replay the dead letter',
    about: 'It is published again in the topic that it came from, and read like any other record.',
    fields: h(
      'div',
      { class: 'field' },
      h('label', { for: 'mended' }, 'Value; mend it here'),
      h('textarea', { id: 'mended', name: 'value', rows: '8', class: 'code', spellcheck: 'false', 'aria-describedby': 'mended-hint' }, value ?? ''),
      h('p', { class: 'hint', id: 'mended-hint' }, value === null
        ? 'Its value is no text. Leave this empty to publish it as it came.'
        : 'Leave it unchanged to publish it as it came.'),
    ),
    confirm: 'Publish again',
    path: `${path}/replay`,
    // A text area has line ends of its own.
    body: (data) => {
      const mended = data.get('value').replaceAll('\r\n', '\n');
      return mended === (value ?? '').replaceAll('\r\n', '\n') ? {} : { value: mended };
    },
  });
  if (answer) {
    page.tell(`Dead letter ${letter.partition}@${letter.offset} is published again.`);
    page.refresh();
  }
}
