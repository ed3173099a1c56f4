// What this browser keeps, for its person to change.
import { html } from '../modules/html.js';
import { defineComponent } from '../vendor/vue.js';

export default defineComponent({
  props: { longest: { type: Number, required: true } }, // characters of a name
  render() {
    return html`
      <details class="browser-settings">
        <summary>This browser${this.name && `: ${this.name}`}</summary>
        <div class="fields">
          <label>Your name, for the others to see <input value=${this.name} maxlength=${this.longest} autocomplete="nickname" onChange=${this.rename} /></label>
          <label><input type="checkbox" checked=${this.sound} onChange=${this.switchSound} /> Sound for a question and for SAFE</label>
          <label><input type="checkbox" checked=${this.notify} onChange=${this.switchNotify} /> Notification for a question and for SAFE</label>
          <output role="status">${this.words}</output>
        </div>
      </details>`;
  },
  data() {
    const { name, sound, notify } = window.curiosity.settings;
    // The person may have withdrawn the permission since.
    return { name, sound, notify: notify && window.Notification?.permission === 'granted', words: '' };
  },
  methods: {
    /** @param {Event} event */
    rename(event) {
      this.name = /** @type {HTMLInputElement} */ (event.target).value.trim();
      window.curiosity.keep({ name: this.name });
    },
    /** @param {Event} event */
    switchSound(event) {
      const box = /** @type {HTMLInputElement} */ (event.target);
      this.words = window.curiosity.switchSound(box.checked);
      this.sound = window.curiosity.settings.sound;
      box.checked = this.sound;
    },
    /** @param {Event} event */
    async switchNotify(event) {
      const box = /** @type {HTMLInputElement} */ (event.target);
      this.words = await window.curiosity.switchNotify(box.checked);
      this.notify = window.curiosity.settings.notify;
      box.checked = this.notify;
    },
  },
});
