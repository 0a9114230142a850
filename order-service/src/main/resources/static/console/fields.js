import { h, render } from './dom.js';
import { formatInOtherZone, fromLocalInput, timeZone, toLocalInput } from './format.js';

// Form fields with their labels and hints.

let lastId = 0;

/** Returns an element id that no other element has. */
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/** A group of radio buttons; options are pairs of value and text. */
export function radioGroup(legend, name, options, checked) {
  return h(
    'fieldset',
    {},
    h('legend', {}, legend),
    options.map(([value, text]) =>
      h(
        'label',
        { class: 'option' },
        h('input', { type: 'radio', name, value, required: true, checked: value === checked }),
        h('span', {}, text),
      )),
  );
}

export function textField(label, name, attributes = {}) {
  const id = newId(name);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    h('input', { id, name, type: 'text', autocomplete: 'off', ...attributes }),
  );
}

/** A list to choose from; options are pairs of value and text. */
export function selectField(label, options, selected, attributes = {}) {
  const id = newId('select');
  return h(
    'div',
    { class: 'choice' },
    h('label', { for: id }, label),
    h('select', { id, ...attributes }, options.map(([value, text]) =>
      h('option', { value, selected: value === selected }, text))),
  );
}

/**
 * A field for an instant, entered in the time zone that the page shows and repeated in the other. Each shortcut, a
 * pair of text and milliseconds, adds a button that sets the field to that long after the base.
 */
export function timeField(label, name, instant, shortcuts = [], base = Date.now) {
  const id = newId(name);
  const hint = h('p', { class: 'hint', id: `${id}-zone` });
  const input = h('input', {
    id,
    name,
    type: 'datetime-local',
    step: '1',
    value: instant ? toLocalInput(instant) : null,
    'aria-describedby': `${id}-zone`,
    on: { input: showHint },
  });
  function showHint() {
    const entered = fromLocalInput(input.value);
    render(hint, `${timeZone()} time${entered ? `; ${formatInOtherZone(entered)}` : ''}`);
  }
  showHint();
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    h(
      'div',
      { class: 'row' },
      input,
      shortcuts.map(([text, milliseconds]) =>
        h(
          'button',
          {
            type: 'button',
            class: 'small',
            on: {
              click: () => {
                input.value = toLocalInput(base() + milliseconds);
                input.dispatchEvent(new Event('input', { bubbles: true }));
              },
            },
          },
          text,
        )),
    ),
    hint,
  );
}
