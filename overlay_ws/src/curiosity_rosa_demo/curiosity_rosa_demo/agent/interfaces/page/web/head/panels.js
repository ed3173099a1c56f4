// Panels are enlarged and hidden by their buttons. The browser remembers it.
(() => {
  const KEY = 'curiosity-panels';
  /** @returns {{ hidden: string[], enlarged: string | null }} names of panels */
  const read = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {};
      return { hidden: Array.isArray(kept.hidden) ? kept.hidden : [], enlarged: kept.enlarged ?? null };
    } catch {
      return { hidden: [], enlarged: null }; // the browser keeps nothing, or something else
    }
  };
  const state = read();
  /** @param {HTMLElement} panel */
  const nameOf = (panel) => panel.dataset.panel ?? '';

  function show() {
    const board = document.querySelector('.board');
    const chips = document.querySelector('.hidden-panels');
    if (!board || !chips) return;
    /** @type {NodeListOf<HTMLElement>} */
    const found = board.querySelectorAll('.panel');
    const panels = [...found];
    const shown = panels.map(nameOf).filter((name) => !state.hidden.includes(name));
    const enlarged = shown.find((name) => name === state.enlarged) ?? null;
    board.toggleAttribute('data-enlarged', enlarged !== null);
    const hidden = panels.filter((panel) => state.hidden.includes(nameOf(panel)));
    for (const panel of panels) {
      panel.toggleAttribute('data-hidden', hidden.includes(panel));
      panel.classList.toggle('enlarged', nameOf(panel) === enlarged);
      panel.querySelector('[data-act=enlarge]')?.setAttribute('aria-pressed', String(nameOf(panel) === enlarged));
    }
    chips.replaceChildren(
      ...hidden.map((panel) => {
        const chip = document.createElement('button');
        Object.assign(chip, {
          type: 'button',
          className: 'small',
          textContent: `Show ${panel.querySelector('h2')?.textContent}`,
        });
        chip.dataset.show = nameOf(panel);
        return chip;
      }),
    );
  }

  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(state));
    } catch {
      /* a browser that keeps nothing still shows it */
    }
    show();
  }

  document.addEventListener('click', (event) => {
    /** @type {HTMLElement | null} */
    const button = event.target instanceof Element ? event.target.closest('[data-act], [data-show]') : null;
    if (!button) return;
    const { show: chosen } = button.dataset;
    /** @type {HTMLElement | null} */
    const panel = button.closest('.panel');
    if (chosen) state.hidden = state.hidden.filter((name) => name !== chosen);
    else if (panel) {
      const name = nameOf(panel);
      if (button.dataset.act === 'hide') state.hidden = [...state.hidden, name];
      else state.enlarged = state.enlarged === name ? null : name;
    }
    keep();
    if (!chosen) return;
    /** @type {HTMLElement | null} */
    const hide = document.querySelector(`[data-panel="${chosen}"] [data-act=hide]`);
    hide?.focus();
  });
  // What scrolls and holds nothing that the tab key reaches is a tab stop itself.
  function makeReachable() {
    /** @type {NodeListOf<HTMLElement>} */
    const boxes = document.querySelectorAll('.panel > .body, .column, .alarms, .table');
    for (const box of boxes) {
      const scrolls = box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
      if (
        scrolls &&
        !box.querySelector('button:not([tabindex="-1"]):not(:disabled), input, textarea, a, summary, [tabindex="0"]')
      )
        box.tabIndex = 0;
      else box.removeAttribute('tabindex');
    }
  }

  const TYPED = 'input:not([type=range]):not([type=checkbox]), textarea, select';
  window.curiosity.isTyping = (event) => {
    const { target } = event;
    return event.ctrlKey || event.altKey || event.metaKey || (target instanceof Element && target.matches(TYPED));
  };

  // Enter may lead to the next button: one that is held must not press it, for nobody has read what stands there.
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.repeat && event.key === 'Enter' && !window.curiosity.isTyping(event)) event.preventDefault();
    },
    true,
  );

  // The second click of a double click was meant for the button of the first, in whose place another one may stand.
  /** @type {[button: Element | null, words: string]} */
  let clicked = [null, ''];
  document.addEventListener(
    'click',
    (event) => {
      const button = event.target instanceof Element ? event.target.closest('button') : null;
      const words = button?.textContent ?? '';
      if (event.detail > 1 && (button !== clicked[0] || words !== clicked[1])) event.stopPropagation();
      else clicked = [button, words];
    },
    true,
  );

  // One key leads to what is many tab stops away.
  /** @type {Record<string, [panel: string, place: string]>} */
  const PLACES = {
    m: ['map', '.world .terrain'],
    t: ['', '.time-bar input[type=range]'],
    '/': ['talk', 'input[name=say]'],
  };
  document.addEventListener('keydown', (event) => {
    const [panel, place] = PLACES[event.key.toLowerCase()] ?? [];
    if (!place || window.curiosity.isTyping(event)) return;
    if (panel) window.curiosity.showPanel(panel);
    /** @type {HTMLElement | null} */
    const found = document.querySelector(place);
    found?.focus();
    event.preventDefault();
  });

  setInterval(makeReachable, 500);
  window.curiosity.showPanels = show;
  window.curiosity.showPanel = (name) => {
    state.hidden = state.hidden.filter((each) => each !== name);
    if (state.enlarged !== name) state.enlarged = null;
    keep();
  };
})();
