import { badge, empty, foreign, h, loading, render, table } from '../dom.js';
import { count, counted, span, time } from '../format.js';
import { longestLag } from './words.js';

const LONG = 5_000;

/** What serves which shard, and how it stands. */
export function shardsView() {
  const instances = h('div', {}, loading());
  const shards = h('div', {}, loading());

  function show(now) {
    render(instances, now.instances.length === 0
      ? empty('No instance has spoken within the last hour.')
      : h('ul', { class: 'instances' }, now.instances.map(instanceCard)));
    render(shards, shardTable(now));
  }

  return {
    title: 'Shards and instances',
    element: h(
      'div',
      { class: 'view columns' },
      h('section', { class: 'card more', 'aria-labelledby': 'of-shards' },
        h('h2', { id: 'of-shards' }, 'Shards'), shards),
      h('section', { class: 'card', 'aria-labelledby': 'of-instances' },
        h('h2', { id: 'of-instances' }, 'Instances'), instances),
    ),
    show,
  };
}

function shardTable(now) {
  const rows = [
    ...now.unservedShards.map((shard) => ({ shard, instance: null })),
    ...now.instances.filter(({ silent }) => !silent).flatMap(({ instance, report }) =>
      report.shards.map((shard) => ({ ...shard, instance }))),
  ].sort((a, b) => a.shard - b.shard);
  if (rows.length === 0) {
    return empty('No shard is known.');
  }
  const held = new Set(now.holds.map((hold) => hold.shard));
  return [
    h('p', { class: 'minor' },
      `${counted(rows.length, 'shard')}; the longest watermark lag is ${longestLag(now) === 0 ? '0' : span(longestLag(now))}`),
    table(
      'Shards',
      [
        'Shard',
        'Stands',
        { text: 'Pending', class: 'number' },
        { text: 'Watermark lag', class: 'number' },
        'Instance',
      ],
      rows.map((row) =>
        h(
          'tr',
          { 'data-key': `${row.shard} ${row.instance}` },
          h('th', { scope: 'row' }, row.shard),
          h('td', {}, standing(row, held)),
          h('td', { class: 'number' }, row.instance === null ? '–' : count(row.pending)),
          h('td', { class: 'number' }, row.instance === null
            ? '–'
            : row.watermarkLagMillis > LONG
              ? badge('warn', span(row.watermarkLagMillis))
              : row.watermarkLagMillis === 0 ? '0' : span(row.watermarkLagMillis)),
          h('td', {}, row.instance === null ? '–' : foreign(row.instance, { class: 'instance' })),
        )),
      { class: 'cards' },
    ),
  ];
}

function standing(row, held) {
  if (row.instance === null) {
    return badge('bad', 'Not served');
  }
  if (row.held || held.has(row.shard)) {
    return badge('bad', 'Held');
  }
  return row.rebuilding ? badge('wait', 'Rebuilding') : badge('ok', 'Served');
}

function instanceCard({ instance, reportedAt, silent, report }) {
  const failing = Object.entries(report.failingSeconds);
  return h(
    'li',
    { 'data-key': instance },
    h('h3', {}, foreign(instance, { class: 'instance' })),
    h('p', {}, silent
      ? badge('bad', 'Silent: it may have ended, or cannot reach Postgres')
      : failing.length > 0 ? badge('bad', 'Some steps fail') : badge('ok', 'Works')),
    h('dl', { class: 'details' },
      fact('Last heard of', time(reportedAt)),
      fact('Runs since', time(report.startedAt)),
      fact('Version', foreign(report.version)),
      fact('Shards', report.shards.length === 0
        ? 'none'
        : report.shards.map(({ shard }) => shard).sort((a, b) => a - b).join(', ')),
      fact('Unpublished', count(report.unpublished)),
      fact('Its clock', clock(report.clockOffsetMillis)),
      failing.map(([step, seconds]) =>
        fact('Fails', badge('bad', foreign(step), ` for ${span(Math.max(1, seconds) * 1_000)}`)))),
  );
}

function fact(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}

function clock(ahead) {
  if (Math.abs(ahead) < 100) {
    return 'agrees with Postgres';
  }
  return `${span(ahead)} ${ahead > 0 ? 'behind' : 'ahead of'} Postgres`;
}
