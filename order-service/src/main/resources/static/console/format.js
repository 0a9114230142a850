import { h } from './dom.js';

// Numbers and times as the reader's browser writes them.

const NUMBERS = new Intl.NumberFormat();
const SECONDS = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});
const MINUTES = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAYS = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit',
});

export function count(number) {
  return NUMBERS.format(number);
}

/** The number with the noun, in the plural where it is not one. */
export function counted(number, noun, nouns = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

export function money(value, currency) {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value);
  } catch {
    // Not a code of three letters: points of some kind.
    return `${NUMBERS.format(value)} ${currency}`;
  }
}

// Below it four amounts in full do not stand side by side.
const narrow = matchMedia('(max-width: 1400px)');

/** An amount where space is short and its currency stands elsewhere; in full in its title. */
export function sum(value, currency) {
  let digits = 0;
  try {
    digits = new Intl.NumberFormat(undefined, { style: 'currency', currency })
      .resolvedOptions().maximumFractionDigits;
  } catch {
    digits = 2;
  }
  const text =
    Math.abs(value) < (narrow.matches ? 1_000 : 10_000)
      ? new Intl.NumberFormat(undefined, {
        minimumFractionDigits: digits, maximumFractionDigits: digits,
      }).format(value)
      : new Intl.NumberFormat(undefined, {
        notation: 'compact', maximumSignificantDigits: narrow.matches ? 3 : 4,
      }).format(value);
  return h('span', { title: money(value, currency) }, text);
}

/** A span of time, in its two greatest units. */
export function span(milliseconds) {
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

/** A span such as PT1H2M3.5S, in milliseconds; NaN if it is none. */
export function spanOf(iso) {
  const parts = /^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$/.exec(iso);
  if (!parts) {
    return NaN;
  }
  const [, hours = 0, minutes = 0, seconds = 0] = parts;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

export function utc(instant) {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The time of a day, and the day if it is not today's; its title is the same in UTC. */
export function time(instant, attributes = {}) {
  const date = new Date(instant);
  const today = date.toDateString() === new Date().toDateString();
  return h(
    'time',
    { datetime: date.toISOString(), title: utc(date), ...attributes },
    (today ? SECONDS : DAYS).format(date),
  );
}

/** The minute, as the charts write it. */
export function minute(instant) {
  return MINUTES.format(new Date(instant));
}

export function second(instant) {
  return SECONDS.format(new Date(instant));
}

/** How far off a time is: in 3 min, 3 min ago. */
export function fromNow(instant, now) {
  const away = new Date(instant).getTime() - now;
  return Math.abs(away) < 1_000 ? 'now' : away > 0 ? `in ${span(away)}` : `${span(away)} ago`;
}

export function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** As a field of type datetime-local takes it. */
export function localInput(instant) {
  const date = new Date(instant);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** What such a field says, as an instant; null if it says nothing. */
export function instantOf(local) {
  return local ? new Date(local).toISOString() : null;
}
