// Calls a person who looks elsewhere: by a sound, and by a notification of the browser. Both are off until the person
// switches them on. The sounds are made here; none is loaded.
(() => {
  /** @type {Record<'asks' | 'safe', [hertz: number, after: number][]>} */
  const SOUNDS = {
    asks: [
      [660, 0],
      [880, 0.18],
    ], // Hz, seconds: rising
    safe: [
      [440, 0],
      [330, 0.22],
      [440, 0.44],
      [330, 0.66],
    ],
  };
  const TONE_S = 0.16;
  const LOUDNESS = 0.2;
  const WORDS = { asks: 'The rover asks a question.', safe: 'SAFE: nothing may move.' };
  /** @type {AudioContext | null} */
  let audio = null;

  // A browser plays nothing before the person has used the page.
  function wake() {
    if (!window.curiosity.settings.sound || !window.AudioContext) return;
    audio ??= new AudioContext();
    if (audio.state === 'suspended') audio.resume().catch(() => {});
  }

  /** @param {'asks' | 'safe'} what */
  function play(what) {
    wake();
    if (!audio) return;
    for (const [hertz, after] of SOUNDS[what]) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      const begin = audio.currentTime + after;
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(LOUDNESS, begin);
      volume.gain.exponentialRampToValueAtTime(0.001, begin + TONE_S);
      tone.connect(volume).connect(audio.destination);
      tone.start(begin);
      tone.stop(begin + TONE_S);
    }
  }

  /** @param {'asks' | 'safe'} what */
  function notify(what) {
    if (!window.Notification || Notification.permission !== 'granted') return;
    try {
      const note = new Notification('Curiosity ROSA', { body: WORDS[what], tag: `curiosity-${what}` });
      note.onclick = () => window.focus();
    } catch {
      /* some phones only let a service worker notify */
    }
  }

  window.curiosity.alert = (what) => {
    if (window.curiosity.settings.sound) play(what);
    if (window.curiosity.settings.notify) notify(what);
  };
  // Each returns why it cannot be switched on; '' when it is.
  window.curiosity.switchSound = (on) => {
    if (on && !window.AudioContext) return 'This browser makes no sound.';
    window.curiosity.keep({ sound: on });
    if (on) play('asks'); // so that the person hears what it is like
    return '';
  };
  window.curiosity.switchNotify = async (on) => {
    if (on && !window.Notification) return 'This browser notifies only over HTTPS or at localhost.';
    if (on && (await Notification.requestPermission()) !== 'granted')
      return 'The browser does not allow notifications of this page.';
    window.curiosity.keep({ notify: on });
    return '';
  };
  for (const use of ['pointerdown', 'keydown']) document.addEventListener(use, wake, { capture: true, passive: true });
})();
