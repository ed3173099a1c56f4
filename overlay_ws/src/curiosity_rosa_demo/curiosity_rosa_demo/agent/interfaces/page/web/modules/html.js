// What a panel draws: markup in a template string, which becomes Vue's nodes. Texts stay texts.
import htm from '../vendor/htm.js';
import { h } from '../vendor/vue.js';

/** @import { Component, VNode } from '../vendor/vue.js' */

/**
 * @this {number[]} of htm: 3 says that no part is to be kept for the next time
 * @param {string | Component} type
 * @param {Record<string, unknown> | null} props
 * @param {unknown[]} children
 * @returns {VNode}
 */
function node(type, props, ...children) {
  this[0] = 3;
  return h(/** @type {string} */ (type), props, /** @type {VNode[]} */ (children.length ? children : undefined));
}

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */
export const html = htm.bind(/** @type {(type: unknown, ...rest: unknown[]) => unknown} */ (node));
