// Requests to the dashboard's own server. The token, if there is one, stays in this tab.

const KEY = 'sluice.token';

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) ?? '',
  set: value => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

function headers() {
  const known = token.get();
  return known ? {Authorization: `Bearer ${known}`} : {};
}

async function failed(response) {
  let text = response.statusText;
  try {
    text = (await response.json()).error ?? text;
  } catch {
    // A proxy in between may answer with something else than JSON.
  }
  return new ApiError(response.status, text);
}

/** The document of a path below api/v1; an ApiError if there is none. */
export async function get(path, query = {}, signal = undefined) {
  const search = new URLSearchParams(
      Object.entries(query).filter(([, value]) => value !== '' && value != null));
  let response;
  try {
    response = await fetch(`api/v1/${path}${search.size ? `?${search}` : ''}`, {
      headers: headers(),
      signal,
      cache: 'no-store',
    });
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new ApiError(0, 'the server does not answer');
  }
  if (!response.ok) throw await failed(response);
  return response.json();
}

/** Encodes the parts of a path. */
export const path = (...parts) => parts.map(encodeURIComponent).join('/');

/**
 * Follows the events of the server for ever. EventSource can't send a token, so the stream is read
 * by hand; the server ends it now and then, and it is opened again where it ended.
 */
export async function follow({changed, connected, refused, signal}) {
  let revision = 0;
  let pause = 250;
  while (!signal.aborted) {
    try {
      const response = await fetch(`api/v1/events?since=${revision}`, {headers: headers(), signal});
      if (response.status === 401) {
        refused(await failed(response));
        return;
      }
      if (!response.ok) throw await failed(response);
      pause = 250;
      connected(true);
      for await (const event of events(response.body)) {
        if (event.type === 'busy') throw new ApiError(429, 'too many tabs follow the events');
        if (event.type === 'change') {
          revision = event.data.revision;
          changed(event.data);
        }
      }
    } catch {
      if (signal.aborted) return;
      connected(false);
      pause = Math.min(pause * 2, 10000);
    }
    await new Promise(done => setTimeout(done, pause));
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      const fields = Object.fromEntries(
          text.slice(0, end).split('\n').map(line => {
            const colon = line.indexOf(':');
            return [line.slice(0, colon), line.slice(colon + 1).trim()];
          }));
      text = text.slice(end + 2);
      if (fields.event) yield {type: fields.event, data: JSON.parse(fields.data)};
    }
  }
}
