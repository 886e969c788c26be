/** The tone for what a person writes while the visitor is elsewhere, and the button that turns it on: off until then. */
import { keyPrefix, openStorage } from "../sdk/storage.ts";
import { dressButton, iconButton } from "./dom.ts";
import type { peopleEnglish } from "./people-strings.ts";

const bell = "M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4";

export function createSound(token: string, strings: typeof peopleEnglish) {
  const storage = openStorage("localStorage");
  const key = `${keyPrefix(token)}sound`;
  const button = iconButton("tool", bell, "", () => {
    storage.setItem(key, storage.getItem(key) ? "" : "1");
    draw();
    ring();
  });

  /** What another tab has chosen counts here, too. */
  function draw(): void {
    const isOn = storage.getItem(key);
    const label = isOn ? strings.soundOff : strings.soundOn;
    // An icon that is replaced while it is pressed would not be clicked.
    if (label !== button.title) dressButton(button, isOn ? bell : `${bell}M4 4l16 16`, label);
  }

  function ring(): void {
    if (!storage.getItem(key)) return;
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.setValueAtTime(0.1, 0);
    volume.gain.exponentialRampToValueAtTime(0.001, 0.4);
    tone.frequency.value = 660;
    tone.connect(volume).connect(audio.destination);
    tone.onended = () => audio.close();
    tone.start();
    tone.stop(0.4);
  }

  return { button, draw, ring };
}
