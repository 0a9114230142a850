import { h } from './dom.js';

// Formats numbers, amounts and times in the browser's locale; times in its time zone or in UTC.

const NUMBER = new Intl.NumberFormat();
const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONE_KEY = 'time-zone';
const UTC = 'UTC';

// Formatters are expensive to create.
const formatters = new Map();
let zone = storedZone();

function storedZone() {
  try {
    return localStorage.getItem(ZONE_KEY) === UTC ? UTC : LOCAL_ZONE;
  } catch {
    return LOCAL_ZONE; // the browser keeps nothing
  }
}

/** The browser's time zone. */
export function localZone() {
  return LOCAL_ZONE;
}

/** The time zone in which times are shown and entered: the browser's, or UTC. */
export function timeZone() {
  return zone;
}

/** Changes the time zone of what is formatted from now on; the browser keeps it. */
export function setTimeZone(name) {
  zone = name === UTC ? UTC : LOCAL_ZONE;
  try {
    localStorage.setItem(ZONE_KEY, zone === UTC ? UTC : 'local');
  } catch {
    // Kept until the page is closed.
  }
}

function formatIn(timeZone, instant, { date, seconds = true, millis, zoneName }) {
  const at = new Date(instant);
  const withYear = date && at.getFullYear() !== new Date().getFullYear();
  const key = [timeZone, date, seconds, millis, zoneName, withYear].join();
  if (!formatters.has(key)) {
    formatters.set(key, new Intl.DateTimeFormat(undefined, {
      timeZone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
      ...(seconds && { second: '2-digit' }),
      ...(millis && { fractionalSecondDigits: 3 }),
      ...(date && { month: 'short', day: 'numeric' }),
      ...(withYear && { year: 'numeric' }),
      ...(zoneName && { timeZoneName: 'short' }),
    }));
  }
  return formatters.get(key).format(at);
}

export function formatNumber(number) {
  return NUMBER.format(number);
}

/** The number followed by the noun in the singular or plural. */
export function pluralize(number, singular, plural = `${singular}s`) {
  return `${formatNumber(number)} ${number === 1 ? singular : plural}`;
}

export function formatMoney(value, currency) {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value);
  } catch {
    // Not an ISO 4217 code, such as loyalty points.
    return `${NUMBER.format(value)} ${currency}`;
  }
}

// Below this width, four amounts in full do not fit next to each other.
const narrow = matchMedia('(max-width: 1400px)');

/** An amount without its currency, abbreviated if large; the title has the full amount. */
export function compactMoney(value, currency) {
  let digits = 2;
  try {
    digits = new Intl.NumberFormat(undefined, { style: 'currency', currency })
      .resolvedOptions().maximumFractionDigits;
  } catch {
    // Not an ISO 4217 code.
  }
  const text =
    Math.abs(value) < (narrow.matches ? 1_000 : 10_000)
      ? new Intl.NumberFormat(undefined, {
        minimumFractionDigits: digits, maximumFractionDigits: digits,
      }).format(value)
      : new Intl.NumberFormat(undefined, {
        notation: 'compact', maximumSignificantDigits: narrow.matches ? 3 : 4,
      }).format(value);
  return h('span', { title: formatMoney(value, currency) }, text);
}

/** A duration in its two largest units. */
export function formatDuration(milliseconds) {
  const total = Math.abs(milliseconds);
  if (total < 1_000) {
    return `${Math.round(total)} ms`;
  }
  const seconds = Math.floor(total / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ');
}

/** Parses an ISO-8601 duration such as PT1H2M3.5S to milliseconds; NaN if invalid. */
export function parseDuration(iso) {
  const parts = /^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$/.exec(iso);
  if (!parts) {
    return NaN;
  }
  const [, hours = 0, minutes = 0, seconds = 0] = parts;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

export function formatUtc(instant) {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The time in the time zone that is not shown: in UTC or, where UTC is shown, in the browser's. */
export function formatInOtherZone(instant) {
  return zone === UTC
    ? formatIn(LOCAL_ZONE, instant, { date: true, zoneName: true })
    : formatUtc(instant);
}

/**
 * A time element with the date; the title has the time in the other time zone. Options: date (false
 * leaves it out), millis, zoneName.
 */
export function timeElement(instant, { date = true, millis = false, zoneName = false } = {}) {
  const at = new Date(instant);
  const options = { date, millis, zoneName };
  return h(
    'time',
    {
      datetime: at.toISOString(),
      title: formatInOtherZone(at),
      'data-format': Object.keys(options).filter((name) => options[name]).join(' '),
    },
    formatIn(zone, at, options),
  );
}

/** A time to the millisecond with its time zone. */
export function exactTime(instant) {
  return timeElement(instant, { millis: true, zoneName: true });
}

/** The same, and how long ago it was. */
export function timeWithAge(instant, now) {
  return [timeElement(instant, { zoneName: true }), ' ',
    h('span', { class: 'age' }, relativeTime(instant, now))];
}

/** Shows all times on the page in another time zone; times that are being entered stay the same. */
export function showTimesIn(name) {
  const entered = [...document.querySelectorAll('input[type="datetime-local"]')]
    .map((input) => [input, fromLocalInput(input.value)]);
  setTimeZone(name);
  for (const [input, instant] of entered) {
    input.value = instant ? toLocalInput(instant) : input.value;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
  for (const element of document.querySelectorAll('time[data-format]')) {
    const shown = new Set(element.dataset.format.split(' '));
    const { textContent, title } = timeElement(element.dateTime, {
      date: shown.has('date'), millis: shown.has('millis'), zoneName: shown.has('zoneName'),
    });
    Object.assign(element, { textContent, title });
  }
}

export function formatMinute(instant) {
  return formatIn(zone, instant, { seconds: false });
}

export function formatTime(instant) {
  return formatIn(zone, instant, {});
}

/** The time relative to now: "in 3 min", "now" or "3 min ago". */
export function relativeTime(instant, now) {
  const offset = new Date(instant).getTime() - now;
  if (Math.abs(offset) < 1_000) {
    return 'now';
  }
  return offset > 0 ? `in ${formatDuration(offset)}` : `${formatDuration(offset)} ago`;
}

/** Converts an instant to the value of an input of type datetime-local. */
export function toLocalInput(instant) {
  const date = new Date(instant);
  const offset = zone === UTC ? 0 : date.getTimezoneOffset();
  return new Date(date.getTime() - offset * 60_000).toISOString().slice(0, 19);
}

/** Converts the value of such an input to an instant; null if it is empty. */
export function fromLocalInput(local) {
  return local ? new Date(zone === UTC ? `${local}Z` : local).toISOString() : null;
}
