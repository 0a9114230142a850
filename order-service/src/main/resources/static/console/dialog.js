import { newIdempotencyKey, post, session } from './api.js';
import { badge, h, render } from './dom.js';
import { newId } from './fields.js';

const MAX_REASON_LENGTH = 500;

// What was entered in dialogs that the end of a session or another page has closed, by user, page and change.
const drafts = new Map();

/** A button that opens a change; only operators see it. */
export function operatorButton(text, onClick, attributes = {}) {
  return session.operator
    ? h('button', { type: 'button', on: { click: onClick }, ...attributes }, text)
    : null;
}

/**
 * Asks the operator to confirm a change and to give a reason, and makes the change. Afterwards
 * refreshes the page and shows a message.
 *
 * Settings:
 * - title
 * - description: the consequences of the change
 * - fields: nodes of the form
 * - confirm, dismiss: the texts of the buttons
 * - danger: whether the change is hard to undo
 * - reason: the reason to begin with, for changes that cannot wait for one
 * - path: what to post to
 * - body: maps the form's data to the request body without the reason; throws an Error with a
 *   message if the input is invalid
 * - done: maps the response to the message
 */
export async function openChangeDialog(page, settings) {
  const view = location.hash;
  const response = await requestChange(settings);
  if (response && location.hash === view) {
    page.notify(settings.done(response));
    page.refresh();
  }
}

/** Resolves to the response, or to null if the dialog was dismissed. */
function requestChange({
  title, description, fields = [], confirm, dismiss = 'Cancel', danger = false, reason: suggested = '', path, body,
}) {
  return new Promise((resolve) => {
    let response = null;
    let sentText = null;
    let idempotencyKey = null;
    let isDismissed = false;
    const draft = [session.name, location.hash, path].join(' ');
    const id = newId('dialog');
    const problem = h('div', { role: 'alert' });
    const confirmButton = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, confirm);
    const reason = h('textarea', {
      id: `${id}-reason`,
      name: 'reason',
      rows: '2',
      maxlength: String(MAX_REASON_LENGTH),
      required: true,
      'aria-describedby': `${id}-audit`,
      // Typing replaces what was suggested.
      on: { focus: () => reason.value === suggested && reason.select() },
    }, suggested);
    const form = h(
      'form',
      { method: 'dialog', on: { submit } },
      h('h2', { id: `${id}-title` }, title),
      h('p', {}, description),
      fields,
      h(
        'div',
        { class: 'field' },
        h('label', { for: `${id}-reason` }, 'Reason'),
        reason,
        h('p', { class: 'hint', id: `${id}-audit` }, 'Recorded in the audit log with your name.'),
      ),
      problem,
      h('div', { class: 'buttons' },
        h('button', { type: 'button', on: { click: dismissDialog } }, dismiss),
        confirmButton),
    );
    const dialog = h('dialog', { 'aria-labelledby': `${id}-title` }, form);

    function dismissDialog() {
      isDismissed = true;
      dialog.close();
    }

    async function submit(event) {
      event.preventDefault();
      if (confirmButton.disabled) {
        return;
      }
      const data = new FormData(form);
      let request;
      try {
        request = { ...body?.(data), reason: data.get('reason').trim() };
        if (!request.reason) {
          throw new Error('Enter a reason.');
        }
      } catch (invalid) {
        render(problem, badge('bad', invalid.message));
        return;
      }
      // A retry of the same request keeps its key, so that the service applies it only once.
      const text = JSON.stringify(request);
      if (text !== sentText) {
        sentText = text;
        idempotencyKey = newIdempotencyKey();
      }
      confirmButton.disabled = true;
      render(problem);
      try {
        response = await post(path, request, idempotencyKey);
        dialog.close();
      } catch (error) {
        render(problem, badge('bad', error.message));
        if (error.status === 401) {
          dialog.close();
        }
      } finally {
        confirmButton.disabled = false;
      }
    }

    // A dialog never stays over another page. What was entered is still there upon return.
    const leave = () => dialog.close();
    addEventListener('hashchange', leave);
    dialog.addEventListener('cancel', () => { isDismissed = true; });
    dialog.addEventListener('close', () => {
      removeEventListener('hashchange', leave);
      if (!response && !isDismissed) {
        drafts.set(draft, [...new FormData(form)]);
      }
      dialog.remove();
      // The change may have removed the button that had the focus.
      if (document.activeElement === document.body) {
        document.querySelector('main h1')?.focus();
      }
      resolve(response);
    });
    document.body.append(dialog);
    restore(form, drafts.get(draft) ?? []);
    drafts.delete(draft);
    dialog.showModal();
    (form.querySelector('input, textarea') ?? reason).focus();
  });
}

function restore(form, entries) {
  for (const [name, value] of entries) {
    form.elements.namedItem(name).value = value;
  }
  [...form.elements].forEach((field) => field.dispatchEvent(new Event('input', { bubbles: true })));
}
