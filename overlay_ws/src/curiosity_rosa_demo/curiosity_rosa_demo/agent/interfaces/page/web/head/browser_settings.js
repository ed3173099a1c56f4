// What this browser keeps: the name of its person, and whether a sound and a notification call that person.
(() => {
  const KEY = 'curiosity-browser';
  /** @returns {BrowserSettings} */
  const read = () => {
    /** @type {Record<string, unknown>} */
    let kept = {};
    try {
      kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {};
    } catch {
      /* the browser keeps nothing, or something else */
    }
    return {
      name: typeof kept.name === 'string' ? kept.name : '',
      sound: kept.sound === true,
      notify: kept.notify === true,
    };
  };
  const settings = read();

  window.curiosity.settings = settings;
  window.curiosity.keep = (changes) => {
    Object.assign(settings, changes);
    try {
      localStorage.setItem(KEY, JSON.stringify(settings));
    } catch {
      /* it holds until the page closes */
    }
  };
  // The query of a request: who makes it.
  window.curiosity.caller = () => `?${new URLSearchParams({ client: 'page', operator: settings.name })}`;
})();
