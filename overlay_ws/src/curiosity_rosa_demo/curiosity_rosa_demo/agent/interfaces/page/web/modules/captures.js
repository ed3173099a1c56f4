// The pictures of the captures, and the one that is shown in full.

/** @param {string} id of the trace event of a capture */
export const captureUrl = (id) => `/page/captures/${encodeURIComponent(id)}.jpg`;

/** @param {string | undefined} id */
export const pickCapture = (id) => window.dispatchEvent(new CustomEvent('pick-capture', { detail: id }));
