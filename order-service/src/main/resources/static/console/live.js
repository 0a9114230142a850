import { get, stream } from './api.js';

// Follows the overview as the service sends it, and comes back by itself when it is cut off. Read
// with fetch and not with an EventSource, which can send no token and tells no status.

const SILENCE = 10_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/** Follows the overview until the signal is aborted. */
export async function follow(signal, onOverview, onConnection) {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const connection = new AbortController();
    const end = () => connection.abort();
    signal.addEventListener('abort', end);
    addEventListener('online', end);
    let watchdog = setTimeout(end, SILENCE);
    try {
      const body = await stream('/api/live', connection.signal);
      onConnection(true);
      for await (const event of events(body)) {
        clearTimeout(watchdog);
        watchdog = setTimeout(end, SILENCE);
        if (event.name === 'overview') {
          pause = FIRST_PAUSE;
          onOverview(JSON.parse(event.data));
        }
      }
    } catch (problem) {
      if (problem.status === 401 || problem.status === 403) {
        return;
      }
      if (problem.status === 503) {
        // Too many follow already, or it is ending: ask now and then.
        await get('/api/overview', {}, signal).then(onOverview, () => {});
      }
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener('abort', end);
      removeEventListener('online', end);
    }
    if (!signal.aborted) {
      onConnection(false);
      // Not all at once when an instance comes back.
      await sleep(pause * (0.75 + Math.random() / 2), signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
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
        yield event(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function event(text) {
  const fields = text.split('\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  });
  const all = (name) => fields.filter(([field]) => field === name).map(([, value]) => value);
  return { name: all('event').at(-1) ?? 'message', data: all('data').join('\n') };
}

/** Waits, but not longer than until the network is back or nobody follows any more. */
async function sleep(milliseconds, signal) {
  const awake = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', resolve, { signal: awake.signal });
    addEventListener('online', resolve, { signal: awake.signal });
  });
  awake.abort();
}
