import { session } from '../api.js';
import { badge, h, untrusted } from '../dom.js';
import { formatNumber, pluralize } from '../format.js';

// Selecting rows of a list and changing them together.

/** How many items one request may change. */
export const MOST_SELECTED = 500;

/** The selected ones of the items on offer, by their keys. Reports changes. */
export class Selection {
  constructor(keyOf, onChange) {
    this.keyOf = keyOf;
    this.onChange = onChange;
    this.offered = new Map();
    this.selected = new Set();
  }

  /** Replaces the items on offer; those still on offer stay selected. */
  offer(items) {
    this.offered = new Map(items.map((item) => [this.keyOf(item), item]));
    this.selected = new Set([...this.selected].filter((key) => this.offered.has(key)));
    this.onChange();
  }

  items() {
    return [...this.offered].filter(([key]) => this.selected.has(key)).map(([, item]) => item);
  }

  isOffered(item) {
    return this.offered.has(this.keyOf(item));
  }

  has(item) {
    return this.selected.has(this.keyOf(item));
  }

  set(item, isSelected) {
    if (isSelected) {
      this.selected.add(this.keyOf(item));
    } else {
      this.selected.delete(this.keyOf(item));
    }
    this.onChange();
  }

  setAll(isSelected) {
    this.selected = new Set(isSelected ? [...this.offered.keys()].slice(0, MOST_SELECTED) : []);
    this.onChange();
  }
}

/** The cell with the checkbox of a row; empty if the item is not on offer. */
export function selectionCell(selection, item, label) {
  return h('td', { class: 'select' }, selection.isOffered(item) && checkbox(
    selection.has(item), false, { 'aria-label': label }, (checked) => selection.set(item, checked)));
}

/** How many items are selected, with the checkbox for all and the buttons. Only operators see it. */
export function bulkBar(selection, noun, where, buttons) {
  const offered = selection.offered.size;
  const selected = selection.selected.size;
  return session.operator && offered > 0 && h('div', { class: 'bulk', role: 'group', 'aria-label': 'Selection' },
    h('label', { class: 'option' },
      checkbox(selected >= Math.min(offered, MOST_SELECTED), selected > 0, {}, (checked) => selection.setAll(checked)),
      h('span', {}, `Select all ${pluralize(offered, noun)} ${where}`)),
    selected > 0 && h('div', { class: 'buttons' }, h('span', { class: 'strong' }, `${formatNumber(selected)} selected`), buttons));
}

// The state is a property, because a patched checkbox gets that of the new one.
function checkbox(checked, mixed, attributes, onChange) {
  const input = h('input', {
    type: 'checkbox', ...attributes, on: { change: (event) => onChange(event.target.checked) },
  });
  input.checked = checked;
  input.indeterminate = !checked && mixed;
  return input;
}

/** A message about a change of many, with those that were not changed and why. */
export function resultNotice(message, results, linkOf) {
  const unchanged = results.filter(({ outcome }) => !['CHANGED', 'UNCHANGED'].includes(outcome));
  return h('div', { class: 'notice', role: 'status' },
    h('p', {}, badge(unchanged.length === 0 ? 'ok' : 'warn', message)),
    unchanged.length > 0 && h('ul', { class: 'unchanged' }, unchanged.map((result) =>
      h('li', {}, linkOf(result), ': ', untrusted(result.detail ?? '')))));
}
