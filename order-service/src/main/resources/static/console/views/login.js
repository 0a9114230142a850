import { logIn, RETURN_TO, session } from '../api.js';
import { badge, h, render } from '../dom.js';
import { formatDuration } from '../format.js';

/** The log-in page: identity providers, and a form for a password or a token. */
export function logInView(notice, onLoggedIn) {
  const problem = h('div', { role: 'alert' });
  const submitButton = h('button', { type: 'submit', class: session.providers.length ? null : 'primary' }, 'Log in');
  const form = (session.passwords || session.tokens) && h(
    'form',
    { on: { submit } },
    session.passwords ? passwordFields() : tokenFields(),
    problem,
    submitButton,
  );
  const element = h(
    'div',
    { class: 'log-in' },
    h('h1', { tabindex: '-1' }, 'Log in'),
    notice && h('p', {}, badge('info', notice)),
    session.providers.map(({ name, path }) => h(
      'a',
      { class: 'primary', href: path, on: { click: rememberView } },
      `Log in with ${name}`,
    )),
    form,
  );

  async function submit(event) {
    event.preventDefault();
    if (submitButton.disabled) {
      return;
    }
    submitButton.disabled = true;
    render(problem);
    try {
      await logIn(Object.fromEntries(new FormData(form)));
      onLoggedIn();
    } catch (error) {
      render(problem, badge('bad', error.status === 429 ? tooManyFailures(error) : error.message));
      form.querySelector('input[type=password]').select();
    } finally {
      submitButton.disabled = false;
    }
  }

  return {
    element,
    focus: () => element.querySelector(session.providers.length ? 'h1' : 'input').focus(),
  };
}

function tooManyFailures({ retryAfterSeconds }) {
  return retryAfterSeconds
    ? `Too many failed log-ins. Try again in ${formatDuration(retryAfterSeconds * 1_000)}.`
    : 'Too many failed log-ins.';
}

function rememberView() {
  // Without a hash, this is a return from a rejected log-in: keep the view remembered before it.
  if (location.hash) {
    sessionStorage.setItem(RETURN_TO, location.hash);
  }
}

function passwordFields() {
  return [
    field('Username', {
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
      'A bearer token from the issuer that this service trusts. It is kept in this page’s memory',
      ' only and is lost when you reload or close the page.',
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
