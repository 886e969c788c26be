/** How a person who is not here is alerted: by a sound, and by notifications of the browser. */
import { keep, recall } from "../lib/browser-storage.ts";
import { State } from "../lib/state.ts";

/** Of this browser; both are off at first. */
export const alerts = { sound: keptSwitch("companiond-sound"), notices: keptSwitch("companiond-notices") };

function keptSwitch(key: string): State<boolean> {
  const isOn = new State(recall(key) === "on");
  isOn.onChange(() => keep(key, isOn.value ? "on" : "off"));
  // The tab that alerts is often not the one where it was switched.
  window.addEventListener("storage", (event) => {
    if (event.key === key) isOn.value = event.newValue === "on";
  });
  return isOn;
}

/** Some browsers have no notifications, others only for installed pages. */
export const mayNotify = () => Object(globalThis).Notification?.permission === "granted";

/** Once for each tag, if the person wants that. */
export function notify(body: string, tag: string, onClick: () => void): void {
  if (!alerts.notices.value || !mayNotify()) return;
  let notice: Notification;
  try {
    notice = new Notification("companiond", { body, tag });
  } catch {
    // Chrome on Android grants the permission, but takes notifications from service workers only.
    return;
  }
  notice.onclick = () => {
    window.focus();
    onClick();
    notice.close();
  };
}

/** Two short tones. A file would be another request. */
export function playSound(): void {
  const context = new AudioContext();
  for (const [at, frequency] of [660, 880].entries()) {
    const tone = new OscillatorNode(context, { frequency });
    const gain = new GainNode(context, { gain: 0.08 });
    tone.connect(gain).connect(context.destination);
    tone.start(context.currentTime + at * 0.14);
    tone.stop(context.currentTime + at * 0.14 + 0.12);
    if (at === 1) tone.onended = () => void context.close();
  }
}
