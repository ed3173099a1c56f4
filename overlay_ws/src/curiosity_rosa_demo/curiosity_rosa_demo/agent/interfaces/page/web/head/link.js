// The connection to the agent, what it tells of the robot, and the age of all data on the page. The other scripts
// of the head, and the panels, build on it.
(() => {
  const STALE_S = 2;
  const SLOW_S = 1; // a longer delay is marked
  const AGAIN_MS = 1000; // between two attempts to connect
  const ECHO_MS = 2000;
  const KEPT = 500; // lines of the trace
  const steady = () => performance.now() / 1000;
  const opened = steady();
  /** @type {Beat | null} the last one */
  let newest = null;
  /** @type {number[]} our clock minus the server's at the last beats; the least has the shortest delay */
  let lags = [];
  /** @type {number | null} seconds: the last round trip to the agent */
  let trip = null;
  let lost = false;
  /** @type {WebSocket | null} */
  let socket = null;
  let process = ''; // of the agent

  // Seconds since the last beat was made.
  const silence = () => (newest ? Math.max(0, steady() - Math.min(...lags) - newest.clock) : null);

  // The age of a source in seconds; null: it was never heard.
  /** @param {string | undefined} source */
  const ageOf = (source) => {
    const known = newest?.ages[source ?? ''] ?? null;
    const since = silence();
    return known === null || since === null ? null : known + since;
  };

  /** @param {string} selector */
  const all = (selector) => /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector));

  /** @returns {'lost' | 'wait' | 'stale' | 'live'} */
  const state = () => {
    if (lost) return 'lost';
    const since = silence();
    if (since === null) return steady() - opened > STALE_S ? 'stale' : 'wait';
    return since > STALE_S ? 'stale' : 'live';
  };

  /** @param {string} link */
  const words = (link) => {
    if (link === 'lost') return 'Connection lost. Nothing below is live. Trying again …';
    if (link !== 'stale') return '';
    const since = silence();
    return `No data from the agent${since === null ? '' : ` for ${Math.floor(since)} s`}. Nothing below is live.`;
  };

  /** @param {number} age */
  const seconds = (age) => `${age < 10 ? age.toFixed(1) : Math.floor(age)} s`;

  // One number for the connection: the round trip, and the age of the newest data.
  /** @param {string} link */
  function showDelay(link) {
    const shown = document.getElementById('delay');
    if (!shown) return;
    const since = silence();
    const delay = trip === null || since === null ? null : trip + since;
    const slow = link !== 'live' || delay === null || delay > SLOW_S;
    const text =
      link === 'lost' ? '✕ no link' : delay === null ? '' : `${slow ? '▲' : '●'} delay ${delay.toFixed(2)} s`;
    if (shown.textContent !== text) shown.textContent = text;
    shown.classList.toggle('bad', slow && text !== '');
  }

  // Without a connection. The agent may have been restarted; it then does not know this page: reload once it answers.
  async function again() {
    lost = true;
    refresh();
    const answer = newest && (await fetch('/healthz', { cache: 'no-store' }).catch(() => null));
    if (answer?.ok) window.location.reload();
  }

  // The view of the robot: all of it first, then what changes, and a beat with each.
  function connect() {
    const { protocol, host } = window.location;
    const opening = new WebSocket(`${protocol.replace('http', 'ws')}//${host}${document.documentElement.dataset.view}`);
    let opened = false;
    opening.onopen = () => {
      opened = true;
      socket = opening;
      lost = false;
      window.dispatchEvent(new Event('view-opened'));
      refresh();
      echo();
    };
    opening.onmessage = (event) => take(JSON.parse(event.data));
    opening.onclose = () => {
      socket = null;
      lost = true;
      refresh();
      if (!opened) again();
      setTimeout(connect, AGAIN_MS);
    };
  }

  /**
   * A document after a JSON Merge Patch. What has not changed stays the same object.
   * @param {Record<string, any>} before
   * @param {Record<string, any>} patch
   */
  function patched(before, patch) {
    const after = { ...before };
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete after[key];
      else if (typeof value !== 'object' || Array.isArray(value)) after[key] = value;
      else after[key] = patched(isObject(after[key]) ? after[key] : {}, value);
    }
    return after;
  }

  /** @param {unknown} value */
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

  /** @param {ViewMessage} message */
  function take(message) {
    if (process && message.process && message.process !== process) window.location.reload();
    process = message.process ?? process;
    const { view } = link;
    if (message.patch) view.document = patched(message.process ? {} : view.document, message.patch);
    if (message.replace) view.lines = message.lines ?? [];
    else if (message.lines?.length) view.lines = [...view.lines, ...message.lines].slice(-KEPT);
    window.dispatchEvent(new CustomEvent('view', { detail: message }));
    if (message.stopped) window.dispatchEvent(new CustomEvent('stop-answered', { detail: message.stopped }));
    if (message.echo) trip = (performance.now() - message.echo) / 1000;
    if (message.beat) {
      newest = message.beat;
      lags = [...lags.slice(-49), steady() - newest.clock];
    }
    refresh();
  }

  const echo = () => document.hidden || link.send({ echo: performance.now() });

  function refresh() {
    const link = state();
    document.documentElement.dataset.link = link;
    const banner = document.getElementById('link');
    if (banner) {
      const text = words(link);
      if (banner.textContent !== text) banner.textContent = text;
      banner.hidden = !text;
    }
    for (const shown of all('[data-age]')) {
      const age = ageOf(shown.dataset.age);
      const limit = Number(shown.dataset.limit) || STALE_S;
      const text = age === null ? 'never heard' : seconds(age);
      if (shown.textContent !== text) shown.textContent = text;
      if (age === null) shown.dataset.stale = 'never';
      else if (link !== 'live' || age > limit) shown.dataset.stale = 'stale';
      else delete shown.dataset.stale;
    }
    // A value in the head that is old says so: "still" of 18 s ago is not "still".
    for (const shown of all('[data-from]')) {
      const age = ageOf(shown.dataset.from);
      const old = age !== null && (link !== 'live' || age > (Number(shown.dataset.limit) || STALE_S));
      const text = old ? `${seconds(age)} old` : '';
      if (!text) delete shown.dataset.old;
      else if (shown.dataset.old !== text) shown.dataset.old = text;
    }
    showDelay(link);
  }

  const link = {
    /** @type {HeadScripts['view']} */
    view: { document: {}, lines: [] },
    refresh,
    /** @param {Record<string, unknown>} message */
    send(message) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    connected: () => socket !== null,
    live: () => state() === 'live',
    pages: () => newest?.pages ?? 1, // number of open pages in all browsers
    now: () => (newest ? newest.now + (silence() ?? 0) : Date.now() / 1000), // of the server
    /** @param {number} moment */
    time: (moment) => new Date(moment * 1000).toLocaleTimeString([], { hour12: false }),
  };
  window.curiosity = /** @type {HeadScripts} */ (link); // the other scripts of the head add to it
  window.addEventListener('offline', () => {
    lost = true;
    refresh();
  });
  window.addEventListener('online', () => {
    lost = !socket;
    refresh();
  });
  document.addEventListener('visibilitychange', refresh);
  document.addEventListener('DOMContentLoaded', refresh);
  setInterval(refresh, 250);
  setInterval(echo, ECHO_MS);
  connect();
})();
