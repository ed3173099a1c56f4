// STOP: a separate request that needs neither Vue nor sockets. "Stopped" appears only after the
// agent has confirmed it.
(() => {
  const SECOND_WAY_MS = 1000; // without an answer for so long, the stop is also sent through the socket
  const GIVE_UP_MS = 10000;
  const SHOWN_MS = 10000; // "stopped" disappears after this time; a failure stays
  let last = 0; // number of the newest press; only its result is shown

  function showStatus(state, words) {
    const output = document.getElementById('stop-status');
    output.dataset.state = state;
    output.textContent = words;
  }

  async function ask(signal) {
    const answer = await fetch('/stop', {
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
    let settled = false;
    function answered(ok, words) {
      if (settled) return;
      settled = true;
      clearTimeout(secondWay);
      clearTimeout(end);
      window.removeEventListener('stop-answered', bySocket);
      const took = Math.round(performance.now() - began);
      if (press !== last) return;
      if (ok) {
        showStatus('done', `Stopped after ${took} ms: ${words}`);
        setTimeout(() => press === last && showStatus('', ''), SHOWN_MS);
      }
      else showStatus('failed', `NOT CONFIRMED: ${words}`);
    }
    const bySocket = (event) => answered(event.detail.ok, event.detail.words);
    showStatus('asking', 'Stopping …');
    window.dispatchEvent(new Event('stopping')); // the camera panel pauses
    window.addEventListener('stop-answered', bySocket);
    const secondWay = setTimeout(() => window.dispatchEvent(new Event('stop-again')), SECOND_WAY_MS);
    const end = setTimeout(() => giveUp.abort(), GIVE_UP_MS);
    try {
      const answer = await ask(giveUp.signal);
      answered(answer.ok, answer.words);
    } catch {
      answered(false, 'the agent does not answer. Use the e-stop of the rover.');
    }
  }

  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('#stop')) stop();
  }, true);
  // Escape stops from anywhere on the page, also while typing.
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.repeat && !event.isComposing) stop();
  }, true);
})();
