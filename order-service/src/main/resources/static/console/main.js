import { loadSession, logOut, RETURN_TO, session, sessionEvents } from './api.js';
import { badge, errorState, h, loading, render, viewLink } from './dom.js';
import { findForm } from './find.js';
import { formatDuration, formatTime, timeElement } from './format.js';
import { followOverview } from './live.js';
import { timeZoneSwitch } from './time-zone.js';
import { auditView } from './views/audit.js';
import { conflictsView } from './views/conflicts.js';
import { deadLettersView } from './views/dead-letters.js';
import { logInView } from './views/login.js';
import { orderView } from './views/order.js';
import { ordersView } from './views/orders.js';
import { overviewView } from './views/overview.js';
import { pausesView } from './views/pauses.js';
import { policiesView } from './views/policies.js';
import { shardsView } from './views/shards.js';
import { pauseControl } from './views/suspensions.js';

// Each view is a function of its URL parameters and the page. It returns its title and element, and
// optionally show(overview), tick() (called every second), refresh() and close().
const VIEWS = {
  overview: { label: 'Overview', open: overviewView },
  orders: { label: 'Orders', open: ordersView },
  pauses: { label: 'Pauses', open: pausesView },
  shards: { label: 'Shards', open: shardsView },
  policies: { label: 'Policies', open: policiesView },
  conflicts: { label: 'Conflicts', open: conflictsView },
  'dead-letters': { label: 'Dead letters', open: deadLettersView },
  audit: { label: 'Audit log', open: auditView },
  order: { parent: 'orders', open: orderView },
};

const STALE_AFTER_MILLIS = 5_000;
const TOAST_MILLIS = 8_000;

const $ = (id) => document.getElementById(id);
const main = $('main');

let view = null;
let following = null;
let overview = null;
let receivedAt = null;
let connected = false;
let wasStale = false;
// Difference between Postgres's clock, which the service uses, and the browser's.
let clockOffsetMillis = 0;
let toastTimer;

const page = {
  now: () => Date.now() + clockOffsetMillis,
  notify,
  overview: () => overview,
  refresh: () => view?.refresh?.(),
};

function notify(message) {
  clearTimeout(toastTimer);
  render($('toast'), badge('ok', message));
  toastTimer = setTimeout(() => render($('toast')), TOAST_MILLIS);
}

function showView(moveFocus) {
  showMenu(false);
  const hash = location.hash.slice(1) || '/overview';
  const [path, query = ''] = hash.split(/\?(.*)/s);
  const name = path.replace(/^\//, '');
  const definition = VIEWS[name];
  view?.close?.();
  view = definition
    ? definition.open(new URLSearchParams(query), page)
    : { title: 'Page not found', element: h('p', {}, viewLink('overview', {}, 'Go to the overview')) };
  showNavigation(definition?.parent ?? name);
  main.setAttribute('data-view', hash);
  document.title = `${view.title} · Order timeout`;
  main.replaceChildren(
    h('h1', { tabindex: '-1', class: view.hideTitle ? 'visually-hidden' : null }, view.heading ?? view.title),
    view.element,
  );
  if (overview) {
    view.show?.(overview);
  }
  if (moveFocus) {
    main.querySelector('h1').focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

// Narrow windows show the navigation and the user only on request.
function showMenu(isOpen) {
  $('menu').setAttribute('aria-expanded', String(isOpen));
  $('top').classList.toggle('is-open', isOpen);
}

function showNavigation(current) {
  const navigation = $('navigation');
  navigation.hidden = false;
  $('menu').hidden = false;
  render(navigation, h('ul', {}, Object.entries(VIEWS).filter(([, { label }]) => label).map(
    ([name, { label }]) =>
      h('li', {}, h('a', { href: `#/${name}`, 'aria-current': name === current ? 'page' : null }, label)),
  )));
}

function showUser() {
  render(
    $('user'),
    session.name !== null && [
      timeZoneSwitch(),
      h('span', { class: 'name' }, h('bdi', {}, session.name), !session.operator && ' (read-only access)'),
      h('button', { type: 'button', class: 'small', on: { click: endSession } }, 'Log out'),
    ],
  );
}

async function endSession() {
  try {
    await logOut();
  } catch (error) {
    if (error.status !== 401) {
      render($('toast'), badge('bad', error.message));
      return;
    }
  }
  showLogIn();
}

function showLogIn(notice) {
  following?.abort();
  following = null;
  overview = null;
  receivedAt = null;
  view?.close?.();
  view = logInView(notice, () => start(true));
  document.title = 'Log in · Order timeout';
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  $('navigation').hidden = true;
  $('menu').hidden = true;
  $('find').replaceChildren();
  $('pause').replaceChildren();
  $('stale').hidden = true;
  render($('connection'));
  render($('toast'));
  render($('version'));
  showUser();
  main.replaceChildren(view.element);
  view.focus();
}

function start(moveFocus) {
  showUser();
  $('find').replaceChildren(findForm());
  render($('pause'), pauseControl(page));
  following = new AbortController();
  followOverview(following.signal, receive, (isConnected) => {
    connected = isConnected;
    showConnection();
  });
  showView(moveFocus);
}

function receive(received) {
  overview = received;
  receivedAt = Date.now();
  clockOffsetMillis = new Date(received.at).getTime() - receivedAt;
  showConnection();
  render($('pause'), pauseControl(page));
  render($('version'), `Order timeout ${versions(received)}`);
  view?.show?.(received);
}

// During a rolling upgrade, the instances have different versions.
function versions({ instances }) {
  const running = instances.filter(({ silent }) => !silent).map(({ report }) => report.version);
  return [...new Set(running)].sort().join(', ');
}

// Updates the connection status. Screen readers hear only changes between stale and up to date.
function showConnection() {
  if (!following) {
    return;
  }
  const age = receivedAt === null ? null : Date.now() - receivedAt;
  const stale = age !== null && age > STALE_AFTER_MILLIS;
  render(
    $('connection'),
    connectionBadge(age, stale),
    receivedAt !== null && h('span', { class: 'at' }, timeElement(receivedAt, { date: false })),
  );
  const bar = $('stale');
  bar.hidden = !stale;
  document.documentElement.classList.toggle('is-stale', stale);
  if (stale) {
    render(bar, badge('warn', `This data is ${formatDuration(age)} old. ${
      connected
        ? 'The service is reachable but sends no updates; Postgres may be unavailable.'
        : 'The service is unreachable; reconnecting.'
    }`));
  }
  if (stale !== wasStale) {
    wasStale = stale;
    render($('announcement'), stale
      ? `The data is stale. Last update at ${formatTime(receivedAt)}.`
      : 'The data is up to date again.');
  }
}

function connectionBadge(age, stale) {
  if (age === null) {
    return badge('wait', 'Connecting');
  }
  return stale ? badge('warn', 'Stale') : badge('ok', 'Live');
}

setInterval(() => {
  showConnection();
  view?.tick?.();
}, 1_000);

addEventListener('hashchange', () => {
  if (following) {
    render($('toast')); // about what was shown before
    showView(true);
  }
});
$('menu').addEventListener('click', () => showMenu($('menu').getAttribute('aria-expanded') !== 'true'));
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && $('menu').getAttribute('aria-expanded') === 'true' && !document.querySelector('dialog')) {
    showMenu(false);
    $('menu').focus();
  }
});
// What is scrolled to, or sticks below the header, is not hidden by it.
new ResizeObserver(() => document.documentElement.style.setProperty('--top-height', `${$('top').offsetHeight}px`))
  .observe($('top'));
// The skip link's target must not become the hash, which names the view.
document.querySelector('.skip-link').addEventListener('click', (event) => {
  event.preventDefault();
  (main.querySelector('h1') ?? main).focus();
});
sessionEvents.addEventListener('lost', () => {
  if (following) {
    showLogIn('You have been logged out because your session is no longer valid. Log in again.');
  }
});

// Identity providers redirect back to the page without the hash.
function restoreView() {
  const hash = sessionStorage.getItem(RETURN_TO);
  sessionStorage.removeItem(RETURN_TO);
  if (hash && !location.hash) {
    history.replaceState(null, '', hash);
  }
}

async function begin() {
  render(main, loading('Checking your session'));
  try {
    await loadSession();
  } catch (error) {
    render(main, errorState(error, begin));
    return;
  }
  if (session.name === null) {
    showLogIn(new URLSearchParams(location.search).has('refused')
      ? 'The identity provider rejected your log-in, or the log-in timed out.'
      : null);
  } else if (!session.viewer) {
    showLogIn(`You are logged in as ${session.name}. This account has no role that grants access to this service.`);
  } else {
    restoreView();
    start(false);
  }
}

begin();
