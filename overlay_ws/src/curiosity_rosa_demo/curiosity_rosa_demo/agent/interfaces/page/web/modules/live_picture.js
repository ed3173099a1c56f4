// The newest frame of a camera, requested one at a time while it is in sight. A stream would occupy a
// connection that a stop may need. The page of a robot and that of a fleet show it.

const SHARE_S = 0.15; // all open pages together send 7 requests a second at most
const RETRY_MS = 1000;
const LEAST_WAIT_MS = 20;

export class LivePicture {
  /** The URL of the frame that is shown; '': none yet. */
  source = '';
  /** Why there is no newer frame; '': there is. */
  words = 'no picture yet';
  /** @type {number | null} when the shown frame came, in steady milliseconds: clocks differ, and may be set */
  came = null;

  #seen = true;
  #ended = false;
  #next = 0;
  /** @type {AbortController | null} */
  #asking = null;
  #watcher;
  #makeRoom = () => this.#asking?.abort();

  /**
   * Begins at once. `path`: of the next frame. `period`: least seconds between two frames. `cameras`: how many
   * this page shows. `wanted`: whether a frame is of use now. `changed`: called after each request.
   * @param {Element} element
   * @param {{ path: () => string, period: () => number, cameras?: () => number, wanted?: () => boolean, changed: (picture: LivePicture) => void }} options
   */
  constructor(element, { path, period, cameras = () => 1, wanted = () => true, changed }) {
    this.options = { path, period, cameras, wanted, changed };
    this.#watcher = new IntersectionObserver((entries) => {
      this.#seen = entries.at(-1)?.isIntersecting ?? true;
    });
    this.#watcher.observe(element);
    window.addEventListener('stopping', this.#makeRoom);
    this.#run();
  }

  end() {
    this.#ended = true;
    clearTimeout(this.#next);
    this.#watcher.disconnect();
    window.removeEventListener('stopping', this.#makeRoom);
    this.#makeRoom();
    URL.revokeObjectURL(this.source);
  }

  /** In seconds; null: there is no frame. */
  age() {
    return this.came === null ? null : (performance.now() - this.came) / 1000;
  }

  async #run() {
    const { path, period, cameras, wanted, changed } = this.options;
    const began = performance.now();
    let wait = 1000 * Math.max(period(), SHARE_S * cameras() * window.curiosity.pages());
    if (this.#seen && !document.hidden && wanted()) {
      this.#asking = new AbortController();
      const signal = this.#asking.signal;
      try {
        const answer = await fetch(path(), { cache: 'no-store', priority: 'low', signal });
        wait = Math.max(wait, await this.#take(answer));
      } catch {
        wait = Math.max(wait, RETRY_MS); // a stop is pending, or the server is gone
      }
      if (!this.#ended) changed(this);
    }
    if (this.#ended) return;
    this.#next = setTimeout(() => this.#run(), Math.max(LEAST_WAIT_MS, wait - (performance.now() - began)));
  }

  /**
   * @param {Response} answer
   * @returns {Promise<number>} least milliseconds to the next request
   */
  async #take(answer) {
    if (answer.status !== 200) {
      this.words = answer.headers.get('x-problem') || `no picture: status ${answer.status}`;
      return 1000 * (Number(answer.headers.get('retry-after')) || 1);
    }
    const came = performance.now() - 1000 * Number(answer.headers.get('x-age'));
    const image = await answer.blob();
    if (this.#ended) return 0;
    const frame = URL.createObjectURL(image);
    URL.revokeObjectURL(this.source);
    this.source = frame;
    this.words = '';
    this.came = came;
    return 0;
  }
}
