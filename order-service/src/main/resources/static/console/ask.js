import { newKey, post } from './api.js';
import { h, render, badge } from './dom.js';
import { instantOf, localInput, utc, zone } from './format.js';

const LONGEST_REASON = 500;
let made = 0;

/**
 * Asks whether to make a change, and why; makes it. Says what was answered, or null if it was left.
 *
 * Its settings: title, about (what follows from it), fields (nodes, in a form), confirm (what the
 * button says), danger, path, body (of the form's data, without the reason; throws an Error that
 * says what is missing).
 */
export function ask({ title, about, fields = [], confirm, danger = false, path, body }) {
  return new Promise((resolve) => {
    let answer = null;
    let asked = null;
    let key = null;
    const id = `dialog-${(made += 1)}`;
    const problem = h('div', { role: 'alert' });
    const go = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, confirm);
    const leave = h('button', { type: 'button', on: { click: () => dialog.close() } }, 'Leave it');
    const reason = h('textarea', {
      id: `${id}-reason`,
      name: 'reason',
      rows: '2',
      maxlength: String(LONGEST_REASON),
      required: true,
      'aria-describedby': `${id}-audit`,
    });
    const form = h(
      'form',
      { method: 'dialog', on: { submit } },
      h('h2', { id: `${id}-title` }, title),
      about && h('p', {}, about),
      fields,
      h(
        'div',
        { class: 'field' },
        h('label', { for: `${id}-reason` }, 'Reason'),
        reason,
        h('p', { class: 'hint', id: `${id}-audit` }, 'Stands in the audit, with your name.'),
      ),
      problem,
      h('div', { class: 'buttons' }, leave, go),
    );
    const dialog = h('dialog', { 'aria-labelledby': `${id}-title` }, form);

    async function submit(event) {
      event.preventDefault();
      if (go.disabled) {
        return;
      }
      const data = new FormData(form);
      let wanted;
      try {
        wanted = { ...body?.(data), reason: data.get('reason').trim() };
        if (!wanted.reason) {
          throw new Error('Give a reason.');
        }
      } catch (missing) {
        render(problem, badge('bad', missing.message));
        return;
      }
      // The same wish asked again, since no answer came, has to be known again; another is another.
      const text = JSON.stringify(wanted);
      if (text !== asked) {
        asked = text;
        key = newKey();
      }
      go.disabled = true;
      render(problem);
      try {
        answer = await post(path, wanted, key);
        dialog.close();
      } catch (failure) {
        render(problem, badge('bad', failure.message));
        if (failure.status === 401) {
          dialog.close();
        }
      } finally {
        go.disabled = false;
      }
    }

    dialog.addEventListener('close', () => {
      dialog.remove();
      // What opened it may be gone by what was done.
      if (document.activeElement === document.body) {
        document.querySelector('main h1')?.focus();
      }
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    (form.querySelector('input, textarea') ?? reason).focus();
  });
}

/** A choice of one: options as pairs of value and text. */
export function choice(legend, name, options, chosen) {
  return h(
    'fieldset',
    {},
    h('legend', {}, legend),
    options.map(([value, ...text]) =>
      h(
        'label',
        { class: 'option' },
        h('input', { type: 'radio', name, value, required: true, checked: value === chosen }),
        h('span', {}, ...text),
      )),
  );
}

/** A field for a text. */
export function textField(label, name, attributes = {}) {
  const id = `field-${(made += 1)}`;
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    h('input', { id, name, type: 'text', autocomplete: 'off', ...attributes }),
  );
}

/**
 * A field for a time of the reader's zone, which says it in UTC too, with buttons that set it to
 * some time after a base: pairs of text and milliseconds.
 */
export function timeField(label, name, instant, shortcuts = [], base = () => Date.now()) {
  const id = `field-${(made += 1)}`;
  const hint = h('p', { class: 'hint', id: `${id}-zone` });
  const input = h('input', {
    id,
    name,
    type: 'datetime-local',
    step: '1',
    value: instant ? localInput(instant) : null,
    'aria-describedby': `${id}-zone`,
    on: { input: tell },
  });
  function tell() {
    const chosen = instantOf(input.value);
    render(hint, `Time of ${zone()}${chosen ? `; ${utc(chosen)}` : ''}`);
  }
  tell();
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
                input.value = localInput(base() + milliseconds);
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
