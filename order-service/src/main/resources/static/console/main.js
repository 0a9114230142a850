import { CAME_FOR, access, loadSession, logOut, session } from './api.js';
import { badge, failed, h, loading, render, to } from './dom.js';
import { second, span, time } from './format.js';
import { follow } from './live.js';
import { auditView } from './views/audit.js';
import { deadLettersView } from './views/dead-letters.js';
import { logInView } from './views/log-in.js';
import { orderView } from './views/order.js';
import { ordersView } from './views/orders.js';
import { overviewView } from './views/overview.js';
import { pausesView } from './views/pauses.js';
import { shardsView } from './views/shards.js';

// A view is a function of its parameters and the page; it gives its title and element, and may have
// show(overview), tick() every second, refresh() and close().
const VIEWS = {
  overview: { text: 'Overview', open: overviewView },
  orders: { text: 'Orders', open: ordersView },
  pauses: { text: 'Pauses', open: pausesView },
  shards: { text: 'Shards', open: shardsView },
  'dead-letters': { text: 'Dead letters', open: deadLettersView },
  audit: { text: 'Audit', open: auditView },
  order: { under: 'orders', open: orderView },
};

/** From then on what is seen counts as old. */
const OLD = 5_000;

const $ = (id) => document.getElementById(id);
const main = $('main');

let view = null;
let following = null;
let overview = null;
let heardAt = null;
let connected = false;
let wasOld = false;
// By how much the service's clock, which is Postgres's, is ahead of this one.
let ahead = 0;
let telling;

const page = {
  get overview() {
    return overview;
  },
  now: () => Date.now() + ahead,
  tell,
  /** Asks anew for what is shown, as after a change. */
  refresh: () => view?.refresh?.(),
};

/** Says that something was done; goes away by itself. */
function tell(...text) {
  clearTimeout(telling);
  render($('told'), badge('ok', ...text));
  telling = setTimeout(() => render($('told')), 8_000);
}

function route(moved) {
  const hash = location.hash.slice(1) || '/overview';
  const [path, query = ''] = hash.split(/\?(.*)/s);
  const name = path.replace(/^\//, '');
  const known = VIEWS[name];
  view?.close?.();
  view = known
    ? known.open(new URLSearchParams(query), page)
    : { title: 'No such view', element: h('p', {}, to('overview', {}, 'Go to the overview')) };
  showNavigation(known?.under ?? name);
  main.setAttribute('data-view', hash);
  document.title = `${view.title} · Order timeout`;
  render(main);
  main.append(
    h('h1', { tabindex: '-1', class: view.titleUnseen ? 'unseen' : null }, view.heading ?? view.title),
    view.element,
  );
  if (overview) {
    view.show?.(overview);
  }
  if (moved) {
    main.querySelector('h1').focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function showNavigation(current) {
  const nav = $('views');
  nav.hidden = false;
  render(nav, h('ul', {}, Object.entries(VIEWS).filter(([, { text }]) => text).map(
    ([name, { text }]) =>
      h('li', {}, h('a', { href: `#/${name}`, 'aria-current': name === current ? 'page' : null }, text)),
  )));
}

function showWho() {
  render(
    $('who'),
    session.name !== null && [
      h('span', { class: 'name' }, h('bdi', {}, session.name), !session.operator && ' (may only look)'),
      h('button', { type: 'button', class: 'small', on: { click: leave } }, 'Log out'),
    ],
  );
}

async function leave() {
  try {
    await logOut();
  } catch (problem) {
    if (problem.status !== 401) {
      render($('told'), badge('bad', problem.message));
      return;
    }
  }
  showLogIn();
}

function showLogIn(notice) {
  following?.abort();
  following = null;
  overview = null;
  heardAt = null;
  view?.close?.();
  view = logInView(notice, () => start(true));
  document.title = 'Log in · Order timeout';
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  $('views').hidden = true;
  $('old').hidden = true;
  render($('connection'));
  render($('told'));
  showWho();
  render(main);
  main.append(view.element);
  view.focus();
}

function start(moved) {
  showWho();
  following = new AbortController();
  follow(following.signal, hear, (now) => {
    connected = now;
    showConnection();
  });
  route(moved);
}

function hear(heard) {
  overview = heard;
  heardAt = Date.now();
  ahead = new Date(heard.at).getTime() - heardAt;
  showConnection();
  view?.show?.(heard);
}

// Says it once when it turns, and shows it all the time.
function showConnection() {
  if (!following) {
    return;
  }
  const age = heardAt === null ? null : Date.now() - heardAt;
  const old = age !== null && age > OLD;
  render(
    $('connection'),
    age === null
      ? badge('wait', 'Connecting')
      : old
        ? badge('warn', 'Old')
        : badge('ok', 'Live'),
    heardAt !== null && h('span', { class: 'at' }, time(heardAt)),
  );
  const bar = $('old');
  bar.hidden = !old;
  document.documentElement.classList.toggle('is-old', old);
  if (old) {
    render(bar, badge('warn', `What you see is ${span(age)} old. ${
      connected
        ? 'The service is there but has nothing new to tell; Postgres may be away.'
        : 'The service cannot be reached; trying again.'
    }`));
  }
  if (old !== wasOld) {
    wasOld = old;
    render($('heard'), old
      ? `What you see is old, as of ${second(heardAt)}.`
      : 'What you see is up to date again.');
  }
}

setInterval(() => {
  showConnection();
  view?.tick?.();
}, 1_000);

addEventListener('hashchange', () => following && route(true));
// The address of the skip link is no view.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  (main.querySelector('h1') ?? main).focus();
});
access.addEventListener('lost', () => {
  if (following) {
    showLogIn('You are logged out, since the service does not know you any more. Log in again.');
  }
});

// Who comes back from a provider comes to the page as such.
function cameFor() {
  const view = sessionStorage.getItem(CAME_FOR);
  sessionStorage.removeItem(CAME_FOR);
  if (view && !location.hash) {
    history.replaceState(null, '', view);
  }
}

async function begin() {
  render(main, loading('Asking who you are'));
  try {
    await loadSession();
  } catch (problem) {
    render(main, failed(problem, begin));
    return;
  }
  if (session.name === null) {
    showLogIn(new URLSearchParams(location.search).has('refused')
      ? 'Your log-in was refused where you logged in, or took too long.'
      : null);
  } else if (!session.viewer) {
    showLogIn(`You are logged in as ${session.name}, who has no role that may look at this service.`);
  } else {
    cameFor();
    start(false);
  }
}

begin();
