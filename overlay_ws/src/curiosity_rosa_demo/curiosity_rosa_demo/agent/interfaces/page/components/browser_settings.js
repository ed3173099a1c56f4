// What this browser keeps, for its person to change.
export default {
  props: { longest: Number },
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
    switchSound(event) {
      this.words = window.curiosity.switchSound(event.target.checked);
      event.target.checked = this.sound = window.curiosity.settings.sound;
    },
    async switchNotify(event) {
      this.words = await window.curiosity.switchNotify(event.target.checked);
      event.target.checked = this.notify = window.curiosity.settings.notify;
    },
  },
};
