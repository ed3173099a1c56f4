// How far the running skills are.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

/** @import { PropType } from '../vendor/vue.js' */

export default defineComponent({
  props: { rows: { type: /** @type {PropType<ProgressRow[]>} */ (Array), required: true } },
  render() {
    return html`
      <ul class="progress" aria-label="Progress of the running skills">
        ${this.rows.map(
          (row) => html`<li key=${row.id}>
            <progress ...${row.fraction === null ? {} : { value: row.fraction, max: 1 }} aria-label=${row.skill}>${row.text}</progress>
            <span class="text">${row.text}</span>
          </li>`,
        )}
      </ul>`;
  },
});
