import { MinuteChart } from '../charts.js';
import { badge, emptyState, h, loading, render, table, untrusted, viewLink } from '../dom.js';
import {
  compactMoney, formatDuration, formatMinute, formatNumber, pluralize, timeElement,
} from '../format.js';
import {
  instanceBadge, isAllPaused, LONG_LAG_MILLIS, longestWatermarkLag, problems, suspendedText,
} from './status.js';
import { suspensionList } from './suspensions.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Where the chart draws a lateness above the largest measurable one. */
const LATENESS_CEILING_MILLIS = 10 * MINUTE;

/** The overall status, updated live. */
export function overviewView(parameters, page) {
  const status = h('div', { class: 'status' });
  const tiles = h('div', { class: 'tiles' }, loading());
  const amountsDue = h('div');
  const suspensions = h(
    'section', { class: 'card wide', 'aria-labelledby': 'suspensions', hidden: true },
    h('h2', { id: 'suspensions' }, 'Pauses and holds'));
  const suspended = h('div');
  suspensions.append(suspended);
  const instances = h('div');
  const forecast = new MinuteChart({
    title: 'Orders due per minute',
    format: formatNumber,
    series: [{ label: 'Orders', colour: '--due' }],
  });
  const activity = [
    ['registered', 'Registered', '--registered'],
    ['paid', 'Paid', '--paid'],
    ['cancelled', 'Cancelled', '--cancelled'],
  ].map(([field, title, colour]) => ({
    field,
    chart: new MinuteChart({ title, format: formatNumber, series: [{ label: 'Orders', colour }] }),
  }));
  const lateness = new MinuteChart({
    title: 'Cancellation lateness',
    ceiling: LATENESS_CEILING_MILLIS,
    format: formatLateness,
    decade: (millis) => (millis < 1_000 ? `${millis} ms` : `${formatNumber(millis / 1_000)} s`),
    series: [
      { label: 'p50 (median)', colour: '--paid' },
      { label: 'p99', colour: '--cancelled', dash: [6, 4] },
    ],
  });
  const charts = [forecast, lateness, ...activity.map(({ chart }) => chart)];

  const element = h(
    'div',
    { class: 'overview' },
    status,
    h('section', { class: 'wide', 'aria-label': 'Key figures' }, tiles),
    suspensions,
    h(
      'section',
      { class: 'card two-thirds next-hour', 'aria-labelledby': 'next-hour' },
      h('h2', { id: 'next-hour' }, 'Next hour'),
      forecast.element,
    ),
    h('section', { class: 'card', 'aria-labelledby': 'due-within' },
      h('h2', { id: 'due-within' }, 'Due within'), amountsDue),
    h(
      'section',
      { class: 'card wide', 'aria-labelledby': 'last-hour' },
      h('h2', { id: 'last-hour' }, 'Last hour'),
      h('div', { class: 'charts' }, activity.map(({ chart }) => chart.element), lateness.element),
    ),
    h('section', { class: 'card quiet wide', 'aria-labelledby': 'instances' },
      h('h2', { id: 'instances' }, 'Instances'), instances),
  );

  function show(overview) {
    render(status, problemList(problems(overview)));
    render(tiles, tileList(overview));
    render(amountsDue, dueTable(overview.forecast));
    suspensions.hidden = overview.pauses.length + overview.holds.length === 0;
    render(suspended, suspensionList(page, overview, 'No pauses or holds.'));
    render(instances, instanceList(overview.instances));
    showForecast(overview.forecast);
    showLastHour(overview.lastHour);
  }

  function showForecast({ from, ordersByMinute, within }) {
    const start = new Date(from).getTime();
    // Rounded down to whole minutes, so that the bars do not shift every second.
    const firstMinute = Math.floor(start / MINUTE) * MINUTE;
    forecast.show(
      ordersByMinute.map((_, i) => firstMinute + i * MINUTE),
      [ordersByMinute],
      `${pluralize(sum(ordersByMinute), 'order')} until ${formatMinute(start + HOUR)}${
        suspendedPart(within.at(-1))}`,
    );
  }

  function showLastHour(lastHour) {
    const minutes = lastHour.map(({ minute }) => minute);
    for (const { field, chart } of activity) {
      const values = lastHour.map((minute) => minute[field]);
      chart.show(minutes, [values], [h('strong', {}, formatNumber(sum(values))), related(field, lastHour)]);
    }
    const latest = lastHour.findLast(({ lateP99Millis }) => lateP99Millis !== null);
    lateness.show(
      minutes,
      [lastHour.map(({ lateP50Millis }) => lateP50Millis), lastHour.map(({ lateP99Millis }) => lateP99Millis)],
      latest
        ? [
          'p99 ', h('strong', {}, formatLateness(latest.lateP99Millis)), ` at ${formatMinute(latest.minute)}, `,
          viewLink('orders', { state: 'CANCELLED', lateByMillis: '1000', sort: '-lateness' }, 'late orders'),
        ]
        : 'No cancellations',
    );
  }

  return {
    title: 'Overview',
    hideTitle: true,
    element,
    show,
    close: () => charts.forEach((chart) => chart.close()),
  };
}

function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}

// What else the summary of a chart mentions.
function related(field, lastHour) {
  const closed = sum(lastHour.map((minute) => minute.closed));
  const conflicts = sum(lastHour.map((minute) => minute.conflicts));
  if (field === 'paid' && closed > 0) {
    return `, and ${formatNumber(closed)} closed`;
  }
  return field === 'cancelled' && conflicts > 0
    && [', and ', viewLink('conflicts', {}, pluralize(conflicts, 'payment conflict'))];
}

function formatLateness(milliseconds) {
  return milliseconds < 0 ? 'more than 10 min' : formatDuration(milliseconds);
}

function problemList(found) {
  return found.length === 0
    ? badge('ok', 'Operating normally')
    : h('ul', {}, found.map(([level, content]) => h('li', {}, badge(level, content))));
}

function suspendedPart({ orders, suspended }) {
  if (suspended.orders === 0) {
    return '';
  }
  return suspended.orders === orders ? ', all of them paused' : `, ${formatNumber(suspended.orders)} of them paused`;
}

function tileList(overview) {
  const { at, pending, overdue, suspended, parked, unpublished, instances } = overview;
  const lag = longestWatermarkLag({ instances });
  return [
    tile('pending', 'Pending', formatNumber(pending), 'orders awaiting payment',
      viewLink('orders', { state: 'PENDING' }, 'View pending orders')),
    tile('overdue', 'Overdue', formatNumber(overdue),
      overdueBadge(overview),
      overdue + suspended.orders > 0
        && viewLink('orders', { state: 'PENDING', dueTo: at }, 'View overdue orders')),
    quietTile('parked', 'Parked', formatNumber(parked),
      parked > 0 ? badge('warn', 'not cancelled') : badge('ok', 'none'),
      parked > 0 && viewLink('pauses', {}, 'View parked orders')),
    quietTile('unpublished', 'Unpublished', formatNumber(unpublished), 'events waiting for Kafka'),
    isAllPaused(overview)
      ? quietTile('watermark-lag', 'Watermark lag', '–', 'not needed while all expiry is paused',
        viewLink('shards', {}, 'View by shard'))
      : quietTile('watermark-lag', 'Watermark lag', lag === 0 ? '0' : formatDuration(lag),
        lag > LONG_LAG_MILLIS ? badge('warn', 'orders are delayed') : 'no long delays',
        viewLink('shards', {}, 'View by shard')),
  ];
}

function overdueBadge(overview) {
  if (overview.overdue > 0) {
    return badge('bad', 'long past their deadline');
  }
  return overview.suspended.orders > 0
    ? badge('suspended', suspendedText(overview))
    : badge('ok', 'none');
}

// Customers notice the first figures; the quiet ones explain them.
function quietTile(...settings) {
  const element = tile(...settings);
  element.classList.add('quiet');
  return element;
}

function tile(name, title, figure, description, link) {
  return h(
    'div',
    { class: 'tile', 'data-tile': name },
    h('h2', {}, title),
    h('p', { class: 'figure' }, figure),
    h('p', { class: 'minor' }, description),
    link && h('p', { class: 'minor' }, link),
  );
}

function dueTable({ within, amountsAsOf, from }) {
  const currencies = [...new Set(within.flatMap(({ amounts }) => amounts.map(({ currency }) => currency)))].sort();
  const head = ['', ...within.map(({ minutes }) => ({ text: `${minutes} min`, class: 'number' }))];
  const isAnySuspended = within.some(({ suspended }) => suspended.orders > 0);
  return [
    table('Orders and amounts due within the next hour', head, [
      dueRow('Due', within, ({ minutes, orders }) => viewLink('orders', {
        state: 'PENDING',
        dueFrom: from,
        dueTo: new Date(new Date(from).getTime() + minutes * MINUTE).toISOString(),
      }, formatNumber(orders))),
      amountRows(currencies, within, ({ amounts }) => amounts),
      isAnySuspended && dueRow('Paused or held', within, ({ suspended }) => formatNumber(suspended.orders)),
      isAnySuspended && amountRows(currencies, within, ({ suspended }) => suspended.amounts),
      dueRow('Likely cancelled', within, ({ expectedCancelled }) =>
        (expectedCancelled ? `≈ ${formatNumber(expectedCancelled.orders)}` : unknown())),
      amountRows(currencies, within, ({ expectedCancelled }) => expectedCancelled?.amounts),
    ], { class: 'compact due' }),
    h('p', { class: 'minor' }, 'Likely cancelled: by how orders ended whose deadlines passed in the last hour.',
      within.some(({ expectedCancelled }) => !expectedCancelled) && ' Unknown where these are too few.'),
    h('p', { class: 'minor' }, amountsNote(amountsAsOf, currencies)),
  ];
}

function dueRow(title, within, cell) {
  return h('tr', { class: 'group' }, h('th', { scope: 'row' }, title), within.map((window) =>
    h('td', { class: 'number strong' }, cell(window))));
}

function amountRows(currencies, within, amountsOf) {
  return currencies.map((currency) =>
    h('tr', {}, h('th', { scope: 'row' }, untrusted(currency)), within.map((window) =>
      h('td', { class: 'number' }, amountsOf(window)
        ? compactMoney(amountOf(amountsOf(window), currency), currency)
        : '–'))));
}

function amountOf(amounts, wanted) {
  return amounts.find(({ currency }) => currency === wanted)?.value ?? 0;
}

function unknown() {
  return h('span', { title: 'Too few orders have ended recently.' }, '–',
    h('span', { class: 'visually-hidden' }, 'unknown'));
}

function amountsNote(asOf, currencies) {
  if (!asOf) {
    return 'The amounts have not been calculated yet.';
  }
  return currencies.length > 0 ? ['Amounts as of ', timeElement(asOf)] : 'These orders have no amounts.';
}

function instanceList(instances) {
  if (instances.length === 0) {
    return emptyState('No instance has reported in the last hour, so no order is decided.');
  }
  return h('ul', { class: 'instances' }, instances.map(({ instance, reportedAt, silent, report }) =>
    h(
      'li',
      { 'data-key': instance },
      h(
        'div',
        {},
        instanceBadge({ silent, report }), ' ', untrusted(instance, { class: 'instance' }),
        h('p', { class: 'minor' }, silent
          ? ['Last report ', timeElement(reportedAt)]
          : `${pluralize(report.shards.length, 'shard')}, ${formatNumber(sum(report.shards.map(({ pending }) => pending)))} pending`),
      ),
    )));
}
