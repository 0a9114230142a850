import { h, untrusted } from './dom.js';

const SHOWN_MILLIS = 2_000;

// What was copied last, so that its button still says so after an update of the view.
let last = { text: null, at: 0 };

/** A text with a button that copies it; the label names the text. */
export function copyable(text, label) {
  return h('span', { class: 'copyable' }, untrusted(text, { class: 'id' }), ' ', copyButton(text, label));
}

/** A button that copies a text; screen readers hear that it is copied. */
export function copyButton(text, label) {
  return h('button', {
    type: 'button',
    class: 'copy',
    'aria-label': `Copy ${label}`,
    on: { click: (event) => copy(text, label, event.currentTarget) },
  }, text === last.text && Date.now() - last.at < SHOWN_MILLIS ? 'Copied' : 'Copy');
}

async function copy(text, label, button) {
  let copied;
  try {
    await navigator.clipboard.writeText(text);
    copied = true;
  } catch {
    // Pages that are served without TLS have no clipboard, or the browser refuses it.
    copied = copySelected(text);
    button.focus();
  }
  announce(copied ? `Copied ${label}.` : `The browser does not allow copying. Select ${label} instead.`);
  if (copied) {
    last = { text, at: Date.now() };
    button.textContent = 'Copied';
  }
  setTimeout(() => { button.textContent = 'Copy'; }, SHOWN_MILLIS);
}

function copySelected(text) {
  const area = h('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}

function announce(message) {
  const region = document.getElementById('announcement');
  // The same message again is a change, too.
  region.textContent = '';
  requestAnimationFrame(() => { region.textContent = message; });
}
