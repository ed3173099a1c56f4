// A drawing that the server made: all text in it is escaped there.
export default {
  props: { facts: Object, label: String },
  emits: ['pick'],
  template: `
    <figure class="drawing" :aria-label="label">
      <div v-html="facts.svg" @click="pick" @keydown.enter="pick" @keydown.space.prevent="pick"></div>
    </figure>`,
  methods: {
    pick(event) {
      const shape = event.target.closest('[data-event]');
      if (shape) this.$emit('pick', shape.dataset.event);
    },
  },
};
