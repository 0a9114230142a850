import { get, stream } from './api.js';

// Follows the service's event stream and reconnects when it breaks. Uses fetch instead of
// EventSource, which can neither send a token nor report the response status.

const MAX_SILENCE_MILLIS = 10_000;
const FIRST_DELAY_MILLIS = 500;
const MAX_DELAY_MILLIS = 8_000;

/** Passes on overviews and whether the service is reachable, until the signal is aborted. */
export async function followOverview(signal, onOverview, onConnection) {
  let delay = FIRST_DELAY_MILLIS;
  while (!signal.aborted) {
    const connection = new AbortController();
    const disconnect = () => connection.abort();
    signal.addEventListener('abort', disconnect);
    addEventListener('online', disconnect);
    let watchdog = setTimeout(disconnect, MAX_SILENCE_MILLIS);
    try {
      const body = await stream('/api/v1/live', connection.signal);
      onConnection(true);
      for await (const event of events(body)) {
        clearTimeout(watchdog);
        watchdog = setTimeout(disconnect, MAX_SILENCE_MILLIS);
        if (event.name === 'overview') {
          delay = FIRST_DELAY_MILLIS;
          onOverview(JSON.parse(event.data));
        }
      }
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        return;
      }
      if (error.status === 503) {
        // The instance has too many streams or is shutting down: poll instead.
        await get('/api/v1/overview', {}, signal).then(onOverview, () => {});
      }
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener('abort', disconnect);
      removeEventListener('online', disconnect);
    }
    if (!signal.aborted) {
      onConnection(false);
      // Jitter, so that browsers do not all reconnect at once when an instance comes back.
      await sleep(delay * (0.75 + Math.random() / 2), signal);
      delay = Math.min(2 * delay, MAX_DELAY_MILLIS);
    }
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      text += value;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parseEvent(text) {
  const fields = text.split('\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  });
  const values = (name) => fields.filter(([field]) => field === name).map(([, value]) => value);
  return { name: values('event').at(-1) ?? 'message', data: values('data').join('\n') };
}

/** Waits until the time has passed, the network is back, or the signal is aborted. */
async function sleep(milliseconds, signal) {
  const done = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', resolve, { signal: done.signal });
    addEventListener('online', resolve, { signal: done.signal });
  });
  done.abort();
}
