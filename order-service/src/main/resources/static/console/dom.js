import { viewHref } from './urls.js';

// Builds DOM nodes, and patches displayed nodes to match newly built ones, so that focus, selection,
// scroll positions and open details survive an update every second. Text is only ever inserted as
// text nodes, so data from the API cannot inject markup.

/**
 * Creates an element. Attributes that are null, undefined or false are omitted; `on` maps event
 * types to listeners. Children may be nodes, strings, numbers, empty values, or nested lists of these.
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') {
      listen(node, value);
    } else if (value === true) {
      node.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...nodes(children));
  return node;
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== '')
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

// The listener looks up its handler at the time of the event, because a patched node gets new ones.
function listen(node, handlers) {
  node.handlers = handlers;
  for (const type of Object.keys(handlers)) {
    node.addEventListener(type, (event) => node.handlers?.[type]?.(event));
  }
}

/**
 * Replaces the children of a node, patching existing children where possible. Elements with a
 * data-key are matched by it, others by their position.
 */
export function render(parent, ...children) {
  const target = nodes(children);
  const keys = new Set(target.map(keyOf).filter(Boolean));
  const keyed = new Map();
  for (const node of [...parent.childNodes]) {
    if (keys.has(keyOf(node))) {
      keyed.set(keyOf(node), node);
    } else if (keyOf(node)) {
      remove(node);
    }
  }
  target.forEach((node, i) => {
    const current = parent.childNodes[i] ?? null;
    const old = keyOf(node) ? (keyed.get(keyOf(node)) ?? null) : keyOf(current) ? null : current;
    if (!old || !canPatch(old, node)) {
      parent.insertBefore(node, current);
      if (old) {
        remove(old);
      }
      return;
    }
    if (old !== current) {
      parent.insertBefore(old, current);
    }
    patch(old, node);
  });
  while (parent.childNodes.length > target.length) {
    remove(parent.lastChild);
  }
}

// Focus moves from a removed node to the heading of the view; otherwise it would leave the page.
function remove(node) {
  const focused = node.contains(document.activeElement);
  node.remove();
  if (focused) {
    document.querySelector('main h1')?.focus({ preventScroll: true });
  }
}

function keyOf(node) {
  return node?.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null;
}

function canPatch(old, node) {
  if (old.nodeType !== node.nodeType || old.nodeName !== node.nodeName) {
    return false;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) {
    return true;
  }
  return Object.keys(old.handlers ?? {}).join() === Object.keys(node.handlers ?? {}).join();
}

function patch(old, node) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== node.data) {
      old.data = node.data;
    }
    return;
  }
  old.handlers = node.handlers;
  for (const { name } of [...old.attributes]) {
    // The user decides whether details are open.
    if (!node.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS')) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of node.attributes) {
    if (old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
  if (old.type === 'checkbox') {
    // Properties: the attribute has no effect once the user has clicked.
    old.checked = node.checked;
    old.indeterminate = node.indeterminate;
  }
  render(old, ...node.childNodes);
}

const SVG = 'http://www.w3.org/2000/svg';

// Each icon has its own shape, so that no status is distinguished by colour alone.
const ICONS = {
  ok: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M4.8 8.2 7 10.4l4.2-4.6'],
  warn: ['M8 1.6 15 14H1Z', 'M8 6v4M8 11.9v.3'],
  bad: ['M5 1.2h6L14.8 5v6L11 14.8H5L1.2 11V5Z', 'm5.6 5.6 4.8 4.8M10.4 5.6l-4.8 4.8'],
  info: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M8 7.4v4M8 4.6v.3'],
  wait: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M8 4.4V8l2.4 1.6'],
  pause: ['M2 2h12v12H2Z', 'M6 5.2v5.6M10 5.2v5.6'],
  closed: ['M2 2h12v12H2Z', 'M5 8h6'],
};
ICONS.suspended = ICONS.pause;

function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  for (const d of ICONS[name]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}

/** A status with its icon; the level is ok, warn, bad, info, wait, pause, suspended or closed. */
export function badge(level, ...children) {
  return h('span', { class: `badge ${level}` }, icon(level), h('span', {}, ...children));
}

/** A link to a view of this page. */
export function viewLink(view, parameters, ...children) {
  return h('a', { href: viewHref(view, parameters) }, ...children);
}

/** Text from outside the console, isolated so that its writing direction affects nothing else. */
export function untrusted(text, attributes = {}) {
  return h('bdi', attributes, printable(text));
}

/** The same in a table: one line of limited width, whole while it is focused or pointed at. */
export function clipped(text) {
  return untrusted(text, { class: 'clipped', tabindex: '0' });
}

/** Text from outside, of which only the beginning is shown until somebody asks for all of it. */
export function expandable(text, length = 160) {
  const characters = [...text];
  return characters.length <= length
    ? untrusted(text)
    : h('details', { class: 'expandable' },
      h('summary', {}, untrusted(characters.slice(0, length).join('')), '…'),
      untrusted(text));
}

export function orderId(id) {
  return untrusted(id, { class: 'id' });
}

/** Escapes invisible characters and those that change the writing direction. */
export function printable(text) {
  return String(text).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu,
    (c) => (c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0).toString(16).toUpperCase()}}`),
  );
}

/** The number of characters above which a value has a line of its own. */
const LONG_FACT = 60;

/** A term and its value in a description list; null if the value is empty. */
export function fact(term, ...values) {
  const content = nodes(values);
  if (content.length === 0) {
    return null;
  }
  const value = h('dd', {}, content);
  return h('div', { class: value.textContent.length > LONG_FACT && 'wide' }, h('dt', {}, term), value);
}

/**
 * A table that scrolls horizontally where it is wider than the page. With the class "cards", each row
 * becomes a card on a narrow page. That needs explicit roles, because changing the display of table
 * elements removes their implicit ones. A head cell is a text, or an object with the text, optionally
 * the content to be displayed instead, and attributes.
 */
export function table(caption, head, rows, attributes = {}) {
  const cards = attributes.class?.startsWith('cards') ?? false;
  const body = rows.flat(Infinity).filter(Boolean);
  if (cards) {
    const labels = head.map((cell) => cell.text ?? cell);
    body.forEach((row) => labelCells(row, labels));
  }
  const role = (name) => (cards ? { role: name } : {});
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    h(
      'table',
      { ...role('table'), 'aria-label': caption, ...attributes },
      h('thead', role('rowgroup'),
        h('tr', role('row'), head.map((cell) => headCell(cell, role('columnheader'))))),
      h('tbody', role('rowgroup'), body),
    ),
  );
}

function labelCells(row, labels) {
  row.setAttribute('role', 'row');
  [...row.children].forEach((cell, i) => {
    cell.setAttribute('role', cell.nodeName === 'TH' ? 'rowheader' : 'cell');
    cell.setAttribute('data-label', labels[i]);
    // A single element, so that the content stays together beside its label.
    const content = h('span');
    content.append(...cell.childNodes);
    cell.append(content);
  });
}

function headCell(cell, role) {
  const { text, content, ...attributes } = typeof cell === 'string' ? { text: cell } : cell;
  return text === '' ? h('td') : h('th', { scope: 'col', ...role, ...attributes }, content ?? text);
}

export function loading(text = 'Loading') {
  return h('p', { class: 'state', 'aria-busy': 'true' }, `${text}…`);
}

export function emptyState(...text) {
  return h('p', { class: 'state' }, ...text);
}

export function errorState(error, retry) {
  return h(
    'div',
    { class: 'state' },
    h('p', {}, badge('bad', error.message)),
    h('button', { type: 'button', on: { click: retry } }, 'Try again'),
  );
}
