import { queryString, serviceUrl } from './urls.js';

// The client of the service's API. Authenticates with the session cookie, or with a bearer token
// that is kept in memory only.

/** An error response, or no response at all (status 0). */
class ApiError extends Error {
  constructor(message, status = 0, retryAfterSeconds = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The key in sessionStorage of the view to return to after a log-in at an identity provider. */
export const RETURN_TO = 'return-to';

/** Dispatches "lost" when the service no longer accepts the session or token. */
export const sessionEvents = new EventTarget();

let token = null;

// How often somebody has logged in: the response to a request of an earlier log-in ends no later one.
let logIns = 0;

/** The current user with their roles, and the ways to log in. */
export let session = {
  name: null, viewer: false, operator: false, passwords: true, tokens: false, providers: [],
};

export async function loadSession() {
  const { name } = session;
  session = await get('/api/v1/session');
  if (name !== null && session.name === null) {
    sessionEvents.dispatchEvent(new Event('lost'));
  }
  return session;
}

export async function logIn({ username, password, bearer }) {
  logIns += 1;
  if (bearer) {
    await logInWithToken(bearer.replace(/^Bearer\s+/i, '').trim());
    return;
  }
  await send('/api/v1/session', {
    method: 'POST',
    headers: await csrfHeaders(),
    body: new URLSearchParams({ username, password }),
  });
  await loadSession();
}

async function logInWithToken(bearer) {
  token = bearer;
  try {
    await loadSession();
    if (!session.viewer) {
      throw new ApiError('The token is valid but has no role that grants access to this service.', 403);
    }
  } catch (error) {
    token = null;
    await loadSession();
    throw error;
  }
}

export async function logOut() {
  if (!token) {
    await send('/api/v1/session/end', { method: 'POST', headers: await csrfHeaders() });
  }
  token = null;
  session = { ...session, name: null };
  await loadSession();
}

export async function get(path, parameters = {}, signal) {
  const query = queryString(parameters);
  const response = await send(query ? `${path}?${query}` : path, { signal });
  return response.json();
}

/** Saves a response as a file, and returns it. */
export async function download(path, parameters, fileName, signal) {
  const response = await send(`${path}?${queryString(parameters)}`, { signal, headers: { Accept: '*/*' } });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(address);
  return response;
}

/** Requests a change. The service applies requests with the same idempotency key only once. */
export async function post(path, body, idempotencyKey) {
  const headers = {
    ...(await csrfHeaders()),
    'Content-Type': 'application/json',
    'Idempotency-Key': idempotencyKey,
  };
  const response = await send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.status === 204 ? null : response.json();
}

/** Opens an event stream and returns its body. */
export async function stream(path, signal) {
  const response = await send(path, { signal, headers: { Accept: 'text/event-stream' } });
  return response.body;
}

/** Returns a random key; crypto.randomUUID is not available to pages served without TLS. */
export function newIdempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function csrfHeaders() {
  if (token) {
    return {};
  }
  if (!csrfToken()) {
    await loadSession();
  }
  return { 'X-XSRF-TOKEN': csrfToken() };
}

function csrfToken() {
  const cookie = document.cookie.split('; ').find((pair) => pair.startsWith('XSRF-TOKEN='));
  return cookie ? decodeURIComponent(cookie.slice('XSRF-TOKEN='.length)) : '';
}

async function send(path, options) {
  const headers = { Accept: 'application/json', ...options.headers };
  if (token) {
    headers.Authorization = `Bearer ${token}`;
  }
  const isLoggedIn = session.name !== null;
  const requestedDuring = logIns;
  let response;
  try {
    response = await fetch(serviceUrl(path), { ...options, headers, cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') {
      throw error;
    }
    throw new ApiError(options.method === 'POST'
      ? 'The service did not respond. It is unknown whether the change was made.'
      : 'The service did not respond.');
  }
  if (response.ok) {
    return response;
  }
  const error = new ApiError(
    await errorMessage(response),
    response.status,
    Number(response.headers.get('Retry-After')) || null,
  );
  if (response.status === 401 && isLoggedIn && requestedDuring === logIns && session.name !== null) {
    token = null;
    session = { ...session, name: null, viewer: false, operator: false };
    sessionEvents.dispatchEvent(new Event('lost'));
  }
  throw error;
}

async function errorMessage(response) {
  try {
    const { detail, title } = await response.json();
    const text = detail || title;
    return text.charAt(0).toUpperCase() + text.slice(1);
  } catch {
    return `The service responded with status ${response.status}.`;
  }
}
