// STOP: a request of its own, before Vue, sockets and pictures. "Stopped" stands there only when
// the agent has said so.
(() => {
  const SECOND_WAY_MS = 1000; // without an answer for so long it is also sent through the socket
  const GIVE_UP_MS = 10000;
  const TOLD_MS = 10000; // "stopped" is of that moment; what failed stays
  let last = 0; // number of the newest press: only that one is told of

  function tell(state, words) {
    const said = document.getElementById('stop-said');
    said.dataset.state = state;
    said.textContent = words;
  }

  async function ask(signal) {
    const answer = await fetch('/stop', {
      method: 'POST',
      cache: 'no-store',
      credentials: 'same-origin',
      keepalive: true, // it goes out even if the page is closed at this moment
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
    let told = false;
    function answered(ok, words) {
      if (told) return;
      told = true;
      clearTimeout(secondWay);
      clearTimeout(end);
      window.removeEventListener('stop-answered', bySocket);
      const took = Math.round(performance.now() - began);
      if (press !== last) return;
      if (ok) {
        tell('done', `Stopped after ${took} ms: ${words}`);
        setTimeout(() => press === last && tell('', ''), TOLD_MS);
      }
      else tell('failed', `NOT CONFIRMED: ${words}`);
    }
    const bySocket = (event) => answered(event.detail.ok, event.detail.words);
    tell('asking', 'Stopping …');
    window.dispatchEvent(new Event('stopping')); // pictures make room
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
