import { CAME_FOR, logIn, session } from '../api.js';
import { badge, h, render } from '../dom.js';
import { span } from '../format.js';

/** The ways to log in: a name and a password, or a provider and a token. */
export function logInView(notice, done) {
  const problem = h('div', { role: 'alert' });
  const go = h('button', { type: 'submit', class: session.providers.length ? null : 'primary' }, 'Log in');
  const form = (session.passwords || session.tokens) && h(
    'form',
    { on: { submit } },
    session.passwords ? passwordFields() : tokenFields(),
    problem,
    go,
  );
  const element = h(
    'div',
    { class: 'log-in' },
    h('h1', { tabindex: '-1' }, 'Log in'),
    notice && h('p', {}, badge('info', notice)),
    session.providers.map(({ name, path }) => h(
      'a',
      { class: 'primary', href: path, on: { click: remember } },
      `Log in with ${name}`,
    )),
    form,
  );

  async function submit(event) {
    event.preventDefault();
    if (go.disabled) {
      return;
    }
    go.disabled = true;
    render(problem);
    try {
      await logIn(Object.fromEntries(new FormData(form)));
      done();
    } catch (failure) {
      const wait = failure.status === 429 && failure.retryAfter
        ? ` Try again in ${span(failure.retryAfter * 1_000)} at the latest.`
        : '';
      render(problem, badge('bad', failure.status === 429 ? `Too many failed log-ins.${wait}` : failure.message));
      form.querySelector('input[type=password]').select();
    } finally {
      go.disabled = false;
    }
  }

  return {
    title: 'Log in',
    element,
    focus: () => element.querySelector(session.providers.length ? 'h1' : 'input').focus(),
  };
}

function remember() {
  // Without one they come back from a refusal.
  if (location.hash) {
    sessionStorage.setItem(CAME_FOR, location.hash);
  }
}

function passwordFields() {
  return [
    field('Name', {
      name: 'username', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false',
    }),
    field('Password', {
      name: 'password', type: 'password', autocomplete: 'current-password',
    }),
  ];
}

function tokenFields() {
  return [
    field('Token', {
      name: 'bearer', type: 'password', autocomplete: 'off', 'aria-describedby': 'token-hint',
    }),
    h(
      'p',
      { class: 'hint', id: 'token-hint' },
      'A bearer token of the issuer that this service trusts. It is kept in the memory of this',
      ' page alone, and is gone when the page is closed or loaded again.',
    ),
  ];
}

function field(label, attributes) {
  const id = `log-in-${attributes.name}`;
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    h('input', { id, type: 'text', required: true, ...attributes }),
  );
}
