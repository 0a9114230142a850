import { h } from './dom.js';

// Formats numbers, amounts and times in the browser's locale.

const NUMBER = new Intl.NumberFormat();
const TIME_WITH_SECONDS = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DATE_AND_TIME = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});

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

/** A time element, with the date unless it is today; the title has the time in UTC. */
export function timeElement(instant) {
  const date = new Date(instant);
  const today = date.toDateString() === new Date().toDateString();
  return h(
    'time',
    { datetime: date.toISOString(), title: formatUtc(date) },
    (today ? TIME_WITH_SECONDS : DATE_AND_TIME).format(date),
  );
}

export function formatMinute(instant) {
  return TIME.format(new Date(instant));
}

export function formatTime(instant) {
  return TIME_WITH_SECONDS.format(new Date(instant));
}

/** The time relative to now: "in 3 min", "now" or "3 min ago". */
export function relativeTime(instant, now) {
  const offset = new Date(instant).getTime() - now;
  if (Math.abs(offset) < 1_000) {
    return 'now';
  }
  return offset > 0 ? `in ${formatDuration(offset)}` : `${formatDuration(offset)} ago`;
}

export function timeZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Converts an instant to the value of an input of type datetime-local. */
export function toLocalInput(instant) {
  const date = new Date(instant);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Converts the value of such an input to an instant; null if it is empty. */
export function fromLocalInput(local) {
  return local ? new Date(local).toISOString() : null;
}
