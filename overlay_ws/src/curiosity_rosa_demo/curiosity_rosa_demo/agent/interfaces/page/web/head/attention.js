// The title and the icon of the tab tell an operator who looks elsewhere of a question and of SAFE; so may alert.js.
(() => {
  const SHAPES = {
    calm: '<circle cx="16" cy="16" r="12" fill="#1d5fbf"/>',
    asks: '<path d="M16 2 30 16 16 30 2 16z" fill="#8f1d76"/><text x="16" y="22" font-size="18" font-weight="700" text-anchor="middle" fill="#fff" font-family="sans-serif">?</text>',
    safe: '<path d="M3 3h26v26H3z" fill="#a3161b"/><text x="16" y="23" font-size="20" font-weight="700" text-anchor="middle" fill="#fff" font-family="sans-serif">!</text>',
  };
  /** @type {{ mode: string, open: number | null }} */
  const known = { mode: '', open: null };

  window.curiosity.attention = (news) => {
    const before = { ...known };
    Object.assign(known, news);
    // What was so when the page opened is no news.
    if (before.mode && before.mode !== 'SAFE' && known.mode === 'SAFE') window.curiosity.alert('safe');
    if (before.open !== null && (known.open ?? 0) > before.open) window.curiosity.alert('asks');
    const safe = known.mode === 'SAFE';
    document.title = `${known.open ? `(${known.open}?) ` : ''}${safe ? 'SAFE: ' : ''}Curiosity ROSA`;
    const shape = safe ? SHAPES.safe : known.open ? SHAPES.asks : SHAPES.calm;
    /** @type {HTMLLinkElement | null} */
    let icon = document.querySelector('link[rel="icon"]') ?? document.querySelector('link[rel="shortcut icon"]');
    if (!icon) {
      icon = document.createElement('link');
      document.head.append(icon);
    }
    icon.rel = 'icon';
    icon.type = 'image/svg+xml';
    const image = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shape}</svg>`)}`;
    if (icon.getAttribute('href') !== image) icon.setAttribute('href', image);
  };
})();
