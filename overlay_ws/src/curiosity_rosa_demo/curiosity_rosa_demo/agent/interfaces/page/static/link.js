// The connection, and the age of all data on the page. Measured here, so it needs no server.
(() => {
  const STALE_S = 2;
  const SLOW_S = 1; // a longer delay is marked
  const steady = () => performance.now() / 1000;
  const opened = steady();
  let newest = null; // the last beat: clock and now of the server, ages by name
  let lags = []; // our clock minus the server's at the last beats; the least has the shortest delay
  let trip = null; // seconds: the last round trip to the agent
  let lost = false;
  let hooked = false;

  const silence = () => (newest ? Math.max(0, steady() - Math.min(...lags) - newest.clock) : null);

  const state = () => {
    if (lost) return 'lost';
    if (!newest) return steady() - opened > STALE_S ? 'stale' : 'wait';
    return silence() > STALE_S ? 'stale' : 'live';
  };

  const words = (link) => {
    if (link === 'lost') return 'Connection lost. Nothing below is live. Trying again …';
    if (link !== 'stale') return '';
    const since = newest ? ` for ${Math.floor(silence())} s` : '';
    return `No data from the agent${since}. Nothing below is live.`;
  };

  const seconds = (age) => (age < 10 ? age.toFixed(1) : Math.floor(age).toString()) + ' s';

  // One number for the connection: the round trip, and the age of the newest data.
  function showDelay(link) {
    const shown = document.getElementById('delay');
    if (!shown) return;
    const delay = trip === null || silence() === null ? null : trip + silence();
    const slow = link !== 'live' || delay === null || delay > SLOW_S;
    const text = link === 'lost' ? '✕ no link' : delay === null ? '' : `${slow ? '▲' : '●'} delay ${delay.toFixed(2)} s`;
    if (shown.textContent !== text) shown.textContent = text;
    shown.classList.toggle('bad', slow && text !== '');
  }

  // The agent was restarted and does not know this page: reload once the agent answers.
  async function again() {
    lost = true;
    refresh();
    if (!newest) return; // the page never worked; a reload would not help
    const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => null);
    if (answer?.ok) window.location.reload();
  }

  function refresh() {
    if (!hooked && window.socket) {
      hooked = true;
      window.socket.on('disconnect', () => { lost = true; refresh(); });
      window.socket.on('connect', () => { lost = false; refresh(); });
      window.socket.on('connect_error', again);
    }
    const link = state();
    document.documentElement.dataset.link = link;
    const banner = document.getElementById('link');
    if (banner) {
      const text = words(link);
      if (banner.textContent !== text) banner.textContent = text;
      banner.hidden = !text;
    }
    for (const shown of document.querySelectorAll('[data-age]')) {
      const known = newest?.ages[shown.dataset.age];
      const age = known == null ? null : known + silence();
      const limit = Number(shown.dataset.limit) || STALE_S;
      const text = age === null ? 'never heard' : seconds(age);
      if (shown.textContent !== text) shown.textContent = text;
      if (age === null) shown.dataset.stale = 'never';
      else if (link !== 'live' || age > limit) shown.dataset.stale = 'stale';
      else delete shown.dataset.stale;
    }
    // A value in the head that is old says so: "still" of 18 s ago is not "still".
    for (const shown of document.querySelectorAll('[data-from]')) {
      const known = newest?.ages[shown.dataset.from];
      const age = known == null ? null : known + silence();
      const old = age !== null && (link !== 'live' || age > (Number(shown.dataset.limit) || STALE_S));
      if (!old) delete shown.dataset.old;
      else if (shown.dataset.old !== `${seconds(age)} old`) shown.dataset.old = `${seconds(age)} old`;
    }
    showDelay(link);
  }

  window.curiosity = {
    beat(beat) {
      newest = beat;
      lags = [...lags.slice(-49), steady() - beat.clock];
      refresh();
    },
    refresh,
    roundTrip(took) {
      trip = took;
      refresh();
    },
    live: () => state() === 'live',
    pages: () => newest?.pages ?? 1, // number of open pages in all browsers
    now: () => (newest ? newest.now + silence() : Date.now() / 1000), // of the server
    time: (moment) => new Date(moment * 1000).toLocaleTimeString([], { hour12: false }),
  };
  window.addEventListener('offline', () => { lost = true; refresh(); });
  window.addEventListener('online', () => { lost = !window.socket?.connected; refresh(); });
  document.addEventListener('visibilitychange', refresh);
  document.addEventListener('DOMContentLoaded', refresh);
  setInterval(refresh, 250);
})();
