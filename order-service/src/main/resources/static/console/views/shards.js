import { badge, emptyState, fact, h, loading, render, table, untrusted } from '../dom.js';
import { formatDuration, formatNumber, pluralize, timeElement } from '../format.js';
import { instanceBadge, isAllPaused, LONG_LAG_MILLIS, longestWatermarkLag, reportingInstances } from './status.js';

/** Clock differences below this are not worth reporting. */
const CLOCK_TOLERANCE_MILLIS = 100;

/** Which instance owns which shard, and the status of both. */
export function shardsView() {
  const instances = h('div', {}, loading());
  const shards = h('div', {}, loading());

  function show(overview) {
    render(instances, overview.instances.length === 0
      ? emptyState('No instance has reported in the last hour, so no order is decided. Each instance reports every few seconds.')
      : h('ul', { class: 'instances' }, overview.instances.map(instanceCard)));
    render(shards, shardTable(overview));
  }

  return {
    title: 'Shards and instances',
    element: h(
      'div',
      { class: 'view columns' },
      h('section', { class: 'card two-thirds', 'aria-labelledby': 'shards' },
        h('h2', { id: 'shards' }, 'Shards'), shards),
      h('section', { class: 'card', 'aria-labelledby': 'instances' },
        h('h2', { id: 'instances' }, 'Instances'), instances),
    ),
    show,
  };
}

function shardTable(overview) {
  const rows = [
    ...overview.unservedShards.map((shard) => ({ shard, instance: null })),
    ...reportingInstances(overview).flatMap(({ instance, report }) =>
      report.shards.map((shard) => ({ ...shard, instance }))),
  ].sort((a, b) => a.shard - b.shard);
  if (rows.length === 0) {
    return emptyState('No shards are known yet. There is one per partition of the topics, as soon as an instance has read how many these have.');
  }
  const held = new Set(overview.holds.map((hold) => hold.shard));
  return [
    h('p', { class: 'minor' },
      `${pluralize(rows.length, 'shard')}; ${isAllPaused(overview)
      ? 'no payment watermark is needed while all expiry is paused'
      : `longest watermark lag: ${formatLag(longestWatermarkLag(overview))}`}`),
    table(
      'Shards',
      [
        'Shard',
        'Status',
        { text: 'Pending', class: 'number' },
        { text: 'Watermark lag', class: 'number' },
        'Instance',
      ],
      rows.map((row) =>
        h(
          'tr',
          { 'data-key': `${row.shard} ${row.instance}` },
          h('th', { scope: 'row' }, row.shard),
          h('td', {}, shardBadge(row, held)),
          h('td', { class: 'number' }, row.instance === null ? '–' : formatNumber(row.pending)),
          h('td', { class: 'number' }, row.instance === null ? '–' : lag(row.watermarkLagMillis)),
          h('td', {}, row.instance === null ? '–' : untrusted(row.instance, { class: 'instance' })),
        )),
      { class: 'cards' },
    ),
  ];
}

function lag(milliseconds) {
  return milliseconds > LONG_LAG_MILLIS
    ? badge('warn', formatDuration(milliseconds))
    : formatLag(milliseconds);
}

function formatLag(milliseconds) {
  return milliseconds === 0 ? '0' : formatDuration(milliseconds);
}

function shardBadge(row, held) {
  if (row.instance === null) {
    return badge('bad', 'No owner');
  }
  if (row.held || held.has(row.shard)) {
    return badge('bad', 'Held');
  }
  return row.rebuilding ? badge('wait', 'Rebuilding') : badge('ok', 'Active');
}

function instanceCard({ instance, reportedAt, silent, report }) {
  const shards = report.shards.map(({ shard }) => shard).sort((a, b) => a - b);
  return h(
    'li',
    { 'data-key': instance },
    h('h3', {}, untrusted(instance, { class: 'instance' })),
    h('p', {}, instanceBadge({ silent, report })),
    silent && h('p', { class: 'minor' }, 'It has stopped or cannot reach Postgres.'),
    h('dl', { class: 'details' },
      fact('Last report', timeElement(reportedAt)),
      fact('Started', timeElement(report.startedAt)),
      fact('Version', untrusted(report.version)),
      fact('Shards', shards.length === 0 ? 'none' : shards.join(', ')),
      fact('Unpublished events', formatNumber(report.unpublished)),
      fact('Clock', clock(report.clockOffsetMillis)),
      Object.entries(report.failingSeconds).map(([step, seconds]) =>
        fact('Failing', badge('bad', untrusted(step), ` for ${formatDuration(Math.max(1, seconds) * 1_000)}`)))),
  );
}

// The offset is positive if Postgres's clock is ahead of the instance's.
function clock(offsetMillis) {
  if (Math.abs(offsetMillis) < CLOCK_TOLERANCE_MILLIS) {
    return 'in sync with Postgres';
  }
  return `${formatDuration(offsetMillis)} ${offsetMillis > 0 ? 'behind' : 'ahead of'} Postgres`;
}
