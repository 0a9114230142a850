import { MinutesChart } from '../charts.js';
import { badge, empty, foreign, h, loading, render, table, to } from '../dom.js';
import { count, counted, minute, span, sum, time } from '../format.js';
import { action, concerns, holdItem, longestLag, pauseExpiry, pauseItem } from './words.js';

const BEYOND = 600_000;

/** How all stands, as it changes. */
export function overviewView(parameters, page) {
  const standing = h('div', { class: 'standing' });
  const numbers = h('div', { class: 'numbers' }, loading('Waiting for the first numbers'));
  const due = h('div', {});
  const stops = h('div', {});
  const instances = h('div', {});
  const forecast = new MinutesChart({
    title: 'Orders that come due, by the minute',
    write: (value) => count(value),
    lines: [{ label: 'Orders', colour: '--due' }],
  });
  const done = [
    ['registered', 'Registered', '--registered'],
    ['paid', 'Paid', '--paid'],
    ['cancelled', 'Cancelled', '--cancelled'],
  ].map(([field, label, colour]) => ({
    field,
    label,
    chart: new MinutesChart({
      title: label,
        write: (value) => count(value),
      lines: [{ label: 'Orders', colour }],
    }),
  }));
  const lateness = new MinutesChart({
    title: 'Lateness of cancellations',
    top: BEYOND,
    write: writeLateness,
    lines: [
      { label: 'half within (p50)', colour: '--paid' },
      { label: '99 of 100 within (p99)', colour: '--cancelled', dash: [6, 4] },
    ],
  });
  const charts = [forecast, lateness, ...done.map(({ chart }) => chart)];

  const element = h(
    'div',
    { class: 'overview' },
    standing,
    h('section', { class: 'wide', 'aria-label': 'Now' }, numbers),
    h(
      'section',
      { class: 'card two', 'aria-labelledby': 'next-hour' },
      h('h2', { id: 'next-hour' }, 'The next hour'),
      forecast.element,
    ),
    h('section', { class: 'card', 'aria-labelledby': 'due' }, h('h2', { id: 'due' }, 'Due within'), due),
    h(
      'section',
      { class: 'card wide', 'aria-labelledby': 'last-hour' },
      h('h2', { id: 'last-hour' }, 'The last hour'),
      h('div', { class: 'charts' }, done.map(({ chart }) => chart.element), lateness.element),
    ),
    h(
      'section',
      { class: 'card two', 'aria-labelledby': 'stops' },
      h(
        'div',
        { class: 'head' },
        h('h2', { id: 'stops' }, 'Paused or held'),
        action('Pause expiry …', () => pauseExpiry(page)),
      ),
      stops,
    ),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'instances' },
      h('h2', { id: 'instances' }, 'Instances'),
      instances,
    ),
  );

  function show(now) {
    const all = concerns(now);
    render(
      standing,
      all.length === 0
        ? badge('ok', 'Nothing stands in the way')
        : h('ul', {}, all.map(([meaning, what]) => h('li', {}, badge(meaning, what)))),
    );
    render(numbers, tiles(now));
    render(due, dueWithin(now.forecast));
    render(stops, stopped(now, page));
    render(instances, instanceList(now));
    showForecast(now.forecast);
    showLastHour(now.lastHour);
  }

  function showForecast({ from, ordersByMinute }) {
    const start = new Date(from).getTime();
    const total = ordersByMinute.reduce((a, b) => a + b, 0);
    forecast.show(
      // Steady from second to second: the bars stand at whole minutes from the present one.
      ordersByMinute.map((_, i) => Math.floor(start / 60_000) * 60_000 + i * 60_000),
      [ordersByMinute],
      `${counted(total, 'order')} until ${minute(start + 3_600_000)}`,
    );
  }

  function showLastHour(minutes) {
    const at = minutes.map((m) => m.minute);
    for (const { field, chart } of done) {
      const values = minutes.map((m) => m[field]);
      const total = values.reduce((a, b) => a + b, 0);
      const more = field === 'paid'
        ? minutes.reduce((a, m) => a + m.closed, 0)
        : field === 'cancelled' ? minutes.reduce((a, m) => a + m.conflicts, 0) : 0;
      chart.show(at, [values], [
        h('strong', {}, count(total)),
        more > 0 && (field === 'paid'
          ? `, and ${count(more)} closed`
          : `, and ${counted(more, 'payment conflict')}`),
      ]);
    }
    const last = minutes.findLast((m) => m.lateP99Millis !== null);
    lateness.show(
      at,
      [minutes.map((m) => m.lateP50Millis), minutes.map((m) => m.lateP99Millis)],
      last
        ? ['99 of 100 within ', h('strong', {}, writeLateness(last.lateP99Millis)), ` at ${minute(last.minute)}`]
        : 'None was cancelled.',
    );
  }

  return {
    title: 'Overview',
    titleUnseen: true,
    element,
    show,
    close: () => charts.forEach((chart) => chart.close()),
  };
}

function writeLateness(milliseconds) {
  return milliseconds < 0 ? 'more than 10 min' : span(milliseconds);
}

function tiles(now) {
  const lag = longestLag(now);
  return [
    tile('Pending', now.pending, 'orders wait for their payment', null,
      to('orders', { state: 'PENDING' }, 'Show them'), 'first'),
    tile('Overdue', now.overdue, 'long past their deadlines', now.overdue > 0 ? 'bad' : 'ok',
      now.overdue > 0 && to('orders', { state: 'PENDING', dueTo: now.at }, 'Show them')),
    tile('Parked', now.parked, 'not cancelled for now', now.parked > 0 ? 'warn' : 'ok',
      now.parked > 0 && to('pauses', {}, 'Show them')),
    tile('Unpublished', now.unpublished, 'events wait for Kafka', null, null),
    h(
      'div',
      { class: 'tile' },
      h('h2', {}, 'Watermark lag'),
      h('p', { class: 'figure' }, lag === 0 ? '0' : span(lag)),
      h('p', { class: 'minor' }, lag > 5_000 ? badge('warn', 'due orders are held') : 'no due order is held for long'),
      h('p', { class: 'minor' }, to('shards', {}, 'By shard')),
    ),
  ];
}

function tile(name, value, what, meaning, link, more = '') {
  return h(
    'div',
    { class: `tile ${more}`, 'data-tile': name.toLowerCase() },
    h('h2', {}, name),
    h('p', { class: 'figure' }, count(value)),
    h('p', { class: 'minor' }, meaning ? badge(meaning, meaning === 'ok' ? 'none' : what) : what),
    link && h('p', { class: 'minor' }, link),
  );
}

function dueWithin({ within, amountsAsOf, from }) {
  const currencies = [...new Set(within.flatMap(({ amounts }) => Object.keys(amounts)))].sort();
  const head = ['', ...within.map(({ minutes }) => ({ text: `${minutes} min`, class: 'number' }))];
  return [
    table('Orders and amounts that come due within some minutes', head, [
      h('tr', {}, h('th', { scope: 'row' }, 'Orders'), within.map(({ minutes, orders }) =>
        h('td', { class: 'number strong' }, to('orders', {
          state: 'PENDING',
          dueFrom: from,
          dueTo: new Date(new Date(from).getTime() + minutes * 60_000).toISOString(),
        }, count(orders))))),
      currencies.map((currency) =>
        h('tr', {}, h('th', { scope: 'row' }, foreign(currency)), within.map(({ amounts }) =>
          h('td', { class: 'number' }, sum(amounts[currency] ?? 0, currency))))),
    ], { class: 'compact' }),
    h('p', { class: 'minor' }, amountsAsOf
      ? currencies.length > 0 ? ['Amounts as of ', time(amountsAsOf)] : 'These orders state no amounts.'
      : 'The amounts have not been summed up yet.'),
  ];
}

function stopped(now, page) {
  if (now.pauses.length + now.holds.length === 0) {
    return empty('Nothing is paused, and no shard is held.');
  }
  return h(
    'ul',
    { class: 'items' },
    now.holds.map((hold) => holdItem(hold, page)),
    now.pauses.map((pause) => pauseItem(pause, page)),
  );
}

function instanceList(now) {
  if (now.instances.length === 0) {
    return empty('No instance has spoken within the last hour.');
  }
  return h('ul', { class: 'items' }, now.instances.map(({ instance, reportedAt, silent, report }) =>
    h(
      'li',
      { class: 'item', 'data-key': instance },
      h(
        'div',
        {},
        silent
          ? badge('bad', 'Silent')
          : Object.keys(report.failingSeconds).length > 0 ? badge('bad', 'Failing') : badge('ok', 'Works'),
        ' ', foreign(instance, { class: 'instance' }),
        h('p', { class: 'minor' }, silent
          ? ['last heard of ', time(reportedAt)]
          : `${counted(report.shards.length, 'shard')}, ${count(report.shards.reduce((a, s) => a + s.pending, 0))} pending`),
      ),
    )));
}
