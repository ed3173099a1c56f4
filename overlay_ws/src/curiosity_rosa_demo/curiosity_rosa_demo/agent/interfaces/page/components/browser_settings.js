// What this browser keeps, for its person to change.
import { defineComponent } from 'vue';

export default defineComponent({
  props: { longest: { type: Number, required: true } }, // characters of a name
  emits: ['operator'],
  template: `
    <details class="browser-settings">
      <summary>This browser{{ name && ': ' + name }}</summary>
      <div class="fields">
        <label>Your name, for the others to see <input v-model="name" :maxlength="longest" autocomplete="nickname" @change="rename" /></label>
        <label><input type="checkbox" :checked="sound" @change="switchSound" /> Sound for a question and for SAFE</label>
        <label><input type="checkbox" :checked="notify" @change="switchNotify" /> Notification for a question and for SAFE</label>
        <output role="status">{{ words }}</output>
      </div>
    </details>`,
  data() {
    const { name, sound, notify } = window.curiosity.settings;
    // The person may have withdrawn the permission since.
    return { name, sound, notify: notify && window.Notification?.permission === 'granted', words: '' };
  },
  mounted() {
    this.$emit('operator', this.name);
  },
  methods: {
    rename() {
      this.name = this.name.trim();
      window.curiosity.keep({ name: this.name });
      this.$emit('operator', this.name);
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
