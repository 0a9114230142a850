// Speaks to the service: as a session, or with a token that is kept in memory alone.

/** An answer that is not what was asked for, or none at all; says why. */
export class Problem extends Error {
  constructor(message, status = 0, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Where the session of the browser's tab has what somebody came for while they log in elsewhere. */
export const CAME_FOR = 'came-for';

/** Told when the service does not know us any more. */
export const access = new EventTarget();

let token = null;

/** Who is logged in, what they may do, and how one logs in. */
export let session = {
  name: null, viewer: false, operator: false, passwords: true, tokens: false, providers: [],
};

export async function loadSession() {
  session = await get('/api/session');
  return session;
}

export async function logIn({ username, password, bearer }) {
  if (bearer) {
    token = bearer.replace(/^Bearer\s+/i, '').trim();
    try {
      await loadSession();
      if (!session.viewer) {
        throw new Problem('The token is valid, but has no role that may look at this service.', 403);
      }
    } catch (problem) {
      token = null;
      await loadSession();
      throw problem;
    }
    return;
  }
  await send('/api/session', {
    method: 'POST',
    headers: await changing(),
    body: new URLSearchParams({ username, password }),
  });
  await loadSession();
}

export async function logOut() {
  if (!token) {
    await send('/api/session/end', { method: 'POST', headers: await changing() });
  }
  token = null;
  await loadSession();
}

/** What is at a path, with parameters; those without a value are left out. */
export async function get(path, parameters = {}, signal) {
  const query = new URLSearchParams(
    Object.entries(parameters)
      .flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
      .filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ).toString();
  const answer = await send(query ? `${path}?${query}` : path, { signal });
  return answer.json();
}

/** Asks for a change; under the same key it is made once, however often it is asked for. */
export async function post(path, body, key) {
  const headers = {
    ...(await changing()),
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  };
  const answer = await send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}

/** The event stream, as it comes in. */
export async function stream(path, signal) {
  const answer = await send(path, { signal, headers: { Accept: 'text/event-stream' } });
  return answer.body;
}

/** A key that nobody else makes; randomUUID is not there for pages that came without TLS. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function changing() {
  if (token) {
    return {};
  }
  if (!xsrfToken()) {
    await loadSession();
  }
  return { 'X-XSRF-TOKEN': xsrfToken() };
}

function xsrfToken() {
  const cookie = document.cookie.split('; ').find((pair) => pair.startsWith('XSRF-TOKEN='));
  return cookie ? decodeURIComponent(cookie.slice('XSRF-TOKEN='.length)) : '';
}

async function send(path, options) {
  const headers = { Accept: 'application/json', ...options.headers };
  if (token) {
    headers.Authorization = `Bearer ${token}`;
  }
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: 'no-store' });
  } catch (failure) {
    if (failure.name === 'AbortError') {
      throw failure;
    }
    throw new Problem('The service does not answer. Nothing is known of what it did.');
  }
  if (answer.ok) {
    return answer;
  }
  const problem = new Problem(
    await detail(answer),
    answer.status,
    Number(answer.headers.get('Retry-After')) || null,
  );
  if (answer.status === 401 && session.name !== null) {
    token = null;
    session = { ...session, name: null, viewer: false, operator: false };
    access.dispatchEvent(new Event('lost'));
  }
  throw problem;
}

async function detail(answer) {
  try {
    const problem = await answer.json();
    const text = problem.detail || problem.title;
    return text.charAt(0).toUpperCase() + text.slice(1);
  } catch {
    return `The service answered ${answer.status}.`;
  }
}
