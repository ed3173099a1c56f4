// Texts as the page shows them. Pure.

const MOST = 2000; // characters of one text
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** @param {unknown} text */
export const clip = (text, most = MOST) => {
  const words = typeof text === 'string' ? text : String(text ?? '');
  return words.length > most ? `${words.slice(0, most - 1)}…` : words;
};

/** @param {string} letter */
const columnsOf = (letter) => (WIDE.test(letter) ? 2 : 1);

/** How wide a text is: Chinese and Japanese take two columns a letter. @param {string} text */
export const columns = (text) => [...text].reduce((sum, letter) => sum + columnsOf(letter), 0);

/**
 * A text of at most so many columns; three dots stand for what is left out.
 * @param {string} text
 * @param {number} most
 */
export function clipColumns(text, most) {
  if (2 * text.length <= most || columns(text) <= most) return text;
  let kept = '';
  let room = most - 3;
  for (const letter of text) {
    room -= columnsOf(letter);
    if (room < 0) break;
    kept += letter;
  }
  return `${kept.trimEnd()}...`;
}

/** With every control, bidirectional or invisible character as an escape, such as \u202e. @param {string} text */
export const visible = (text) =>
  text.replace(UNSEEN, (found) => {
    const units = Array.from({ length: found.length }, (_, place) => found.charCodeAt(place));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });

/**
 * Such as "1 task", "2 tasks".
 * @param {number} count
 * @param {string} noun
 */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** @param {Place | undefined} pose */
export const placeText = (pose) => (pose ? `x ${pose.x.toFixed(1)} m, y ${pose.y.toFixed(1)} m` : 'unknown');

/** @param {unknown} value */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The function, which makes nothing anew for what it was given lately: live and past facts change by turns.
 * @template {unknown[]} Given
 * @template Made
 * @param {(...given: Given) => Made} make
 * @returns {(...given: Given) => Made}
 */
export function memo(make) {
  /** @type {{ given: Given, made: Made }[]} the newest first */
  let kept = [];
  return (...given) => {
    const known = kept.find((each) => given.every((value, place) => value === each.given[place]));
    if (known) return known.made;
    kept = [{ given, made: make(...given) }, ...kept.slice(0, 1)];
    return kept[0].made;
  };
}
