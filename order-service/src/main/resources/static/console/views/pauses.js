import { get } from '../api.js';
import { empty, failed, foreign, h, loading, render, table } from '../dom.js';
import { time } from '../format.js';
import { action, holdItem, linkToOrder, pauseExpiry, pauseItem, scope } from './words.js';

const ON_A_PAGE = 50;

/** What stands between orders and their decisions: pauses, holds, parked orders. */
export function pausesView(parameters, page) {
  const open = new AbortController();
  const pauses = h('div', {}, loading());
  const holds = h('div', {}, loading());
  const parked = list(
    (after) => get('/api/parked', { after, limit: ON_A_PAGE }, open.signal),
    (last) => last.orderId,
    'No order is parked.',
    (all) => table(
      'Parked orders',
      ['Order', 'Reason', 'Since'],
      all.map((one) => h('tr', { 'data-key': one.orderId },
        h('th', { scope: 'row' }, linkToOrder(one.orderId)),
        h('td', {}, foreign(one.reason)),
        h('td', {}, time(one.parkedAt)))),
      { class: 'cards' },
    ),
  );
  const earlier = list(
    (before) => get('/api/pauses', { before, limit: ON_A_PAGE }, open.signal),
    (last) => last.id,
    'There was no pause yet.',
    (all) => table(
      'All pauses',
      ['Pause', 'Of', 'By', 'From', 'To', 'Reason'],
      all.map((pause) => h('tr', { 'data-key': String(pause.id) },
        h('th', { scope: 'row' }, pause.id),
        h('td', {}, scope(pause)),
        h('td', {}, foreign(pause.placedBy)),
        h('td', {}, time(pause.beganAt)),
        h('td', {}, until(pause, page.now())),
        h('td', {}, foreign(pause.reason)))),
      { class: 'cards' },
    ),
  );
  let seen = null;

  function show(now) {
    render(pauses, now.pauses.length === 0
      ? empty('Expiry is not paused.')
      : h('ul', { class: 'items' }, now.pauses.map((pause) => pauseItem(pause, page))));
    render(holds, now.holds.length === 0
      ? empty('No shard is held.')
      : h('ul', { class: 'items' }, now.holds.map((hold) => holdItem(hold, page))));
    const signs = [now.parked, ...now.pauses.map((pause) => pause.id)].join();
    if (seen !== null && seen !== signs) {
      parked.load();
      earlier.load();
    }
    seen = signs;
  }

  parked.load();
  earlier.load();
  return {
    title: 'Pauses, holds and parked orders',
    element: h(
      'div',
      { class: 'view columns' },
      h('section', { class: 'card half', 'aria-labelledby': 'pauses' },
        h('div', { class: 'head' },
          h('h2', { id: 'pauses' }, 'Pauses in force'),
          action('Pause expiry …', () => pauseExpiry(page))),
        pauses),
      h('section', { class: 'card half', 'aria-labelledby': 'holds' },
        h('h2', { id: 'holds' }, 'Holds of shards'), holds),
      h('section', { class: 'card wide', 'aria-labelledby': 'parked' },
        h('h2', { id: 'parked' }, 'Parked orders'), parked.element),
      h('section', { class: 'card wide', 'aria-labelledby': 'all-pauses' },
        h('h2', { id: 'all-pauses' }, 'All pauses'), earlier.element),
    ),
    show,
    refresh() {
      parked.load();
      earlier.load();
    },
    close: () => open.abort(),
  };
}

function until(pause, now) {
  if (pause.endedAt) {
    return [time(pause.endedAt), ' by ', foreign(pause.endedBy)];
  }
  if (!pause.endsAt) {
    return 'in force';
  }
  return [time(pause.endsAt), new Date(pause.endsAt).getTime() > now ? ' (in force)' : ' by itself'];
}

/** A list that is had page by page, each shown under the last. */
export function list(ask, cursor, nothing, build) {
  const element = h('div', {}, loading());
  let all = [];

  async function load() {
    await more([]);
  }

  async function more(before) {
    try {
      const page = await ask(before.length === 0 ? undefined : cursor(before.at(-1), before));
      all = [...before, ...page];
      render(element, all.length === 0
        ? empty(nothing)
        : [
            build(all),
            page.length >= ON_A_PAGE &&
              h('button', { type: 'button', on: { click: () => more(all) } }, 'Show more'),
          ]);
    } catch (problem) {
      if (problem.name !== 'AbortError') {
        render(element, before.length > 0 && build(before), failed(problem, () => more(before)));
      }
    }
  }

  return { element, load };
}
