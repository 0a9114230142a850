// Builds nodes, and changes shown nodes into newly built ones, so that what is focused, selected,
// scrolled or opened stays so while numbers change every second. Text only ever becomes text nodes.

/**
 * A node. Attributes that are null, undefined or false are left out; `on` has listeners by event.
 * Children may be nodes, texts, numbers, nothing, or lists of those.
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

// One listener a kind of event, which asks for the handler of the day: the node outlives handlers.
function listen(node, handlers) {
  node.handlers = handlers;
  for (const kind of Object.keys(handlers)) {
    node.addEventListener(kind, (event) => node.handlers?.[kind]?.(event));
  }
}

/** Makes these the children of a node, keeping the nodes that fit; what has a data-key fits its like. */
export function render(parent, ...children) {
  const wanted = nodes(children);
  const keys = new Set(wanted.map(key).filter(Boolean));
  const kept = new Map();
  for (const node of [...parent.childNodes]) {
    if (keys.has(key(node))) {
      kept.set(key(node), node);
    } else if (key(node)) {
      drop(node);
    }
  }
  wanted.forEach((node, i) => {
    const there = parent.childNodes[i] ?? null;
    const old = key(node) ? (kept.get(key(node)) ?? null) : key(there) ? null : there;
    if (!old || !fits(old, node)) {
      parent.insertBefore(node, there);
      if (old) {
        drop(old);
      }
      return;
    }
    if (old !== there) {
      parent.insertBefore(old, there);
    }
    become(old, node);
  });
  while (parent.childNodes.length > wanted.length) {
    drop(parent.lastChild);
  }
}

// Whoever was there is led to the top of the view, not out of the page.
function drop(node) {
  const focused = node.contains(document.activeElement);
  node.remove();
  if (focused) {
    document.querySelector('main h1')?.focus({ preventScroll: true });
  }
}

function key(node) {
  return node?.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null;
}

function fits(old, node) {
  if (old.nodeType !== node.nodeType || old.nodeName !== node.nodeName) {
    return false;
  }
  if (node.nodeType !== Node.ELEMENT_NODE) {
    return true;
  }
  return Object.keys(old.handlers ?? {}).join() === Object.keys(node.handlers ?? {}).join();
}

function become(old, node) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== node.data) {
      old.data = node.data;
    }
    return;
  }
  old.handlers = node.handlers;
  for (const { name } of [...old.attributes]) {
    // Whether details are open is the reader's choice.
    if (!node.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS')) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of node.attributes) {
    if (old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
  render(old, ...node.childNodes);
}

const SVG = 'http://www.w3.org/2000/svg';

// Each has a shape of its own, so that none is told from another by its colour alone.
const ICONS = {
  ok: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M4.8 8.2 7 10.4l4.2-4.6'],
  warn: ['M8 1.6 15 14H1Z', 'M8 6v4M8 11.9v.3'],
  bad: ['M5 1.2h6L14.8 5v6L11 14.8H5L1.2 11V5Z', 'm5.6 5.6 4.8 4.8M10.4 5.6l-4.8 4.8'],
  info: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M8 7.4v4M8 4.6v.3'],
  wait: ['M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z', 'M8 4.4V8l2.4 1.6'],
  pause: ['M2 2h12v12H2Z', 'M6 5.2v5.6M10 5.2v5.6'],
  closed: ['M2 2h12v12H2Z', 'M5 8h6'],
};

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  ICONS[name].forEach((d, i) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    path.setAttribute('class', i === 0 ? 'shape' : 'sign');
    svg.append(path);
  });
  return svg;
}

/** A text after a shape, both of the same meaning: ok, warn, bad, info, wait, pause or closed. */
export function badge(meaning, ...children) {
  return h('span', { class: `badge ${meaning}` }, icon(meaning), h('span', {}, ...children));
}

/** A link to a view of this page. */
export function to(view, parameters, ...children) {
  return h('a', { href: address(view, parameters) }, ...children);
}

export function address(view, parameters = {}) {
  const pairs = Object.entries(parameters)
    .flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `#/${view}${pairs.length ? `?${pairs.join('&')}` : ''}`;
}

/** What somebody else wrote: set apart, so that no direction of writing in it reaches beyond it. */
export function foreign(text, attributes = {}) {
  return h('bdi', attributes, printable(text));
}

/** The id of an order, whatever characters it has. */
export function orderId(id) {
  return foreign(id, { class: 'id' });
}

// Characters that have no shape, or that turn the others around, are written as their number.
function printable(text) {
  return String(text).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu,
    (c) => (c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0).toString(16).toUpperCase()}}`),
  );
}

/** A term and what it is, for a list of facts; nothing if there is nothing to tell. */
export function fact(term, ...values) {
  const shown = nodes(values);
  return shown.length === 0 ? null : h('div', {}, h('dt', {}, term), h('dd', {}, shown));
}

/**
 * A table that scrolls in itself where it is wider than the page. One of the class cards becomes a
 * list of cards on a narrow page; its roles are named, since it does not look like a table then.
 */
export function table(caption, head, rows, attributes = {}) {
  const cards = attributes.class?.startsWith('cards') ?? false;
  const body = rows.flat(Infinity).filter(Boolean);
  const titles = head.map((cell) => (typeof cell === 'string' ? cell : cell.text));
  if (cards) {
    for (const row of body) {
      row.setAttribute('role', 'row');
      [...row.children].forEach((cell, i) => {
        cell.setAttribute('role', cell.nodeName === 'TH' ? 'rowheader' : 'cell');
        cell.setAttribute('data-label', titles[i]);
        // One piece, to stand beside its label.
        const content = h('span');
        content.append(...cell.childNodes);
        cell.append(content);
      });
    }
  }
  const role = (name) => (cards ? { role: name } : {});
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    h(
      'table',
      { ...role('table'), 'aria-label': caption, ...attributes },
      h('thead', role('rowgroup'), h('tr', role('row'), head.map((cell) => column(cell, cards)))),
      h('tbody', role('rowgroup'), body),
    ),
  );
}

function column(cell, cards) {
  const { text, ...attributes } = typeof cell === 'string' ? { text: cell } : cell;
  if (text === '') {
    return h('td', {});
  }
  return h('th', { scope: 'col', ...(cards ? { role: 'columnheader' } : {}), ...attributes }, text);
}

/** What stands where something is awaited. */
export function loading(what = 'Loading') {
  return h('p', { class: 'state', 'aria-busy': 'true' }, `${what} …`);
}

/** What stands where there is nothing. */
export function empty(...text) {
  return h('p', { class: 'state' }, ...text);
}

/** What stands where something could not be had. */
export function failed(problem, again) {
  return h(
    'div',
    { class: 'state' },
    h('p', {}, badge('bad', problem.message)),
    again && h('button', { type: 'button', on: { click: again } }, 'Try again'),
  );
}
