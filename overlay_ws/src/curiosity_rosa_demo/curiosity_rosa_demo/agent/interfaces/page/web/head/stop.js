// STOP: a separate request that needs neither the panels nor the socket. Unless it is confirmed in time, the
// stop is also sent through the page's socket. "Stopped" appears only after the agent has confirmed
// one of the two, "NOT CONFIRMED" only after both have failed or given no answer.
(() => {
  const SECOND_WAY_MS = 500; // without an answer for so long, the stop also goes through the socket
  const GIVE_UP_MS = 10000; // for both ways
  const NO_ANSWER = 'the agent does not answer. Use the e-stop of the rover.';
  const SHOWN_MS = 10000; // "stopped" disappears after this time; a failure stays
  let last = 0; // number of the newest press; only its result is shown

  /**
   * @param {'' | 'asking' | 'done' | 'failed'} state
   * @param {string} words
   */
  function showStatus(state, words) {
    const output = /** @type {HTMLElement} */ (document.getElementById('stop-status'));
    output.dataset.state = state;
    output.textContent = words;
  }

  // Nothing about the name may block a stop.
  function caller() {
    try {
      return window.curiosity.caller();
    } catch {
      return '';
    }
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Told>}
   */
  async function ask(signal) {
    const path = document.getElementById('stop')?.dataset.path ?? ''; // of a fleet: /fleet
    const answer = await fetch(`${path}/stop${caller()}`, {
      method: 'POST',
      cache: 'no-store',
      credentials: 'same-origin',
      keepalive: true, // sent even if the page closes now
      priority: 'high',
      redirect: 'error',
      signal,
    });
    const body = await answer.json().catch(() => ({}));
    const words = body.answer || body.detail || body.title || `status ${answer.status}`;
    return { ok: answer.ok && body.ok === true, words: String(words) };
  }

  async function stop() {
    const press = ++last;
    const began = performance.now();
    const giveUp = new AbortController();
    /** @type {{ request?: string, socket?: string }} */
    const failures = {}; // the words of each way that has failed
    let settled = false;
    let sentAgain = false;
    /**
     * @param {boolean} ok
     * @param {string} words
     */
    function finish(ok, words) {
      if (settled) return;
      settled = true;
      clearTimeout(secondWay);
      clearTimeout(end);
      window.removeEventListener('stop-answered', bySocket);
      const took = Math.round(performance.now() - began);
      if (press !== last) return;
      if (ok) {
        showStatus(
          'done',
          `Stopped after ${took} ms, at ${new Date().toLocaleTimeString([], { hour12: false })}: ${words}`,
        );
        setTimeout(() => press === last && showStatus('', ''), SHOWN_MS);
      } else showStatus('failed', `NOT CONFIRMED: ${words}`);
    }
    function sendAgain() {
      if (settled || sentAgain) return;
      sentAgain = true;
      window.curiosity.send({ stop: window.curiosity.settings.name });
    }
    /**
     * @param {'request' | 'socket'} way
     * @param {boolean} ok
     * @param {string} words
     */
    function answered(way, ok, words) {
      if (settled) return;
      if (ok) {
        finish(true, words);
        return;
      }
      failures[way] = words;
      sendAgain();
      const { request, socket } = failures;
      if (request && (socket || !window.curiosity.connected())) finish(false, request);
      else if (press === last) showStatus('asking', `Not confirmed yet: ${words} Trying again …`);
    }
    /** @param {WindowEventMap['stop-answered']} event */
    const bySocket = (event) => answered('socket', event.detail.ok, event.detail.words);
    showStatus('asking', 'Stopping …');
    window.dispatchEvent(new Event('stopping')); // the camera panel pauses
    window.addEventListener('stop-answered', bySocket);
    const secondWay = setTimeout(sendAgain, SECOND_WAY_MS);
    const end = setTimeout(() => {
      giveUp.abort();
      finish(false, failures.request || failures.socket || NO_ANSWER);
    }, GIVE_UP_MS);
    try {
      const answer = await ask(giveUp.signal);
      answered('request', answer.ok, answer.words);
    } catch {
      answered('request', false, NO_ANSWER);
    }
  }

  document.addEventListener(
    'click',
    (event) => {
      if (event.target instanceof Element && event.target.closest('#stop')) stop();
    },
    true,
  );
  // Escape stops from anywhere on the page, also while typing.
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape' && !event.repeat && !event.isComposing) stop();
    },
    true,
  );
})();
