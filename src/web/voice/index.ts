/** One voice session: the provider's own client, and the part of the panel that shows it. Loaded on the first click. */
import { VoiceConversation } from "@elevenlabs/client";
import { dressButton, h, iconButton, icons } from "../widget/dom.ts";
import { describe, toProblem } from "../widget/problem.ts";
import { fill } from "../widget/strings.ts";
import type { VoiceHost, VoiceSessionControl } from "../widget/voice-button.ts";
import { voiceEnglish } from "./strings.ts";

type State = "connecting" | "listening" | "speaking" | "muted" | "ended";

const farewellMs = 4000;
/** A receiver, laid down. */
const hungUp = "M3 14c6-5 12-5 18 0l-2 3-4-2v-3c-2-.5-4-.5-6 0v3l-4 2z";
const crossedMicrophone = `${icons.microphone}M4 4l16 16`;

const sheet = new CSSStyleSheet();
sheet.replaceSync(VOICE_STYLE);

export function startVoice(host: VoiceHost): VoiceSessionControl {
  const { bar, assetsUrl } = host;
  const strings = { ...voiceEnglish, ...host.strings };
  const labels: Record<State, string> = {
    connecting: strings.voiceConnecting,
    listening: strings.voiceListening,
    speaking: fill(strings.voiceSpeaking, host.name),
    muted: strings.voiceMuted,
    ended: strings.voiceEnded,
  };
  const label = h("b");
  /** What was said last, as text: the conversation has it for screen readers. */
  const caption = h("p", { class: "caption", dir: "auto", "aria-hidden": "true" });
  const orb = h("i", { class: "orb", "aria-hidden": "true" }, h("i", {}));
  const mute = iconButton("tool", icons.microphone, strings.voiceMute, () => setMuted(!isMuted));
  const hangUp = iconButton("tool end", hungUp, strings.voiceEnd, () => end());
  let conversation: VoiceConversation | null = null;
  let isMuted = false;
  let isOver = false;
  let mode: "listening" | "speaking" = "listening";
  let frame = 0;

  /** The ring follows the one who speaks. */
  function drawLevel(): void {
    if (isOver || !conversation) return;
    const level = mode === "speaking" ? conversation.getOutputVolume() : isMuted ? 0 : conversation.getInputVolume();
    orb.style.setProperty("--level", level.toFixed(2));
    frame = requestAnimationFrame(drawLevel);
  }

  /** The rest of the panel is as it was. */
  function fold(): void {
    cancelAnimationFrame(frame);
    bar.classList.remove("on");
  }

  function show(state: State): void {
    if (bar.dataset.state === state) return;
    bar.dataset.state = state;
    label.textContent = labels[state];
    mute.hidden = !conversation;
    // Speaking can be heard; only the other states are announced.
    if (state !== "speaking" && !(state === "listening" && mode === "listening" && isMuted)) host.say(labels[state]);
    host.emit("voice", { state });
  }

  function showMode(): void {
    if (!isOver) show(mode === "speaking" ? "speaking" : isMuted ? "muted" : "listening");
  }

  function setMuted(next: boolean): void {
    isMuted = next;
    conversation?.setMicMuted(isMuted);
    dressButton(
      mute,
      isMuted ? crossedMicrophone : icons.microphone,
      isMuted ? strings.voiceUnmute : strings.voiceMute,
    );
    showMode();
  }

  function end(): void {
    if (isOver) return;
    isOver = true;
    fold();
    const hadFocus = bar.matches(":focus-within");
    bar.replaceChildren(label);
    void conversation?.endSession();
    show("ended");
    host.ended(hadFocus);
    leave(farewellMs);
  }

  function fail(sentence: string): void {
    if (isOver) return;
    isOver = true;
    fold();
    bar.classList.add("failed");
    bar.dataset.state = "ended";
    host.emit("voice", { state: "ended" });
    // The sentence stays; the microphone's button is there again for another try, with the focus that the bar had.
    host.ended(bar.matches(":focus-within"));
    const dismiss = iconButton("tool", icons.close, strings.dismiss, () => {
      bar.hidden = true;
    });
    bar.replaceChildren(h("b", {}, sentence), dismiss);
    host.say(sentence);
    void conversation?.endSession();
  }

  function leave(afterMs: number): void {
    setTimeout(() => {
      if (bar.contains(label)) bar.hidden = true;
    }, afterMs);
  }

  function describeFailure(error: unknown): string {
    const { code, retryAt } = toProblem(error);
    if (code === "quota_exceeded") return strings.voiceUsedUp;
    if (!/^(origin_not_allowed|not_found|rate_limited|network_limited|network)$/.test(code)) return strings.voiceFailed;
    return fill(describe(code, strings), Math.ceil((retryAt - Date.now()) / 1000));
  }

  async function run(): Promise<void> {
    // Asked for first: the signed URL is short-lived, and a visitor who refuses costs no session.
    const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
    for (const track of microphone.getTracks()) track.stop();
    if (isOver) return;
    const signedUrl = await host.open();
    if (isOver) return;
    const started = await VoiceConversation.startSession({
      signedUrl,
      connectionType: "websocket",
      // From here, never from a third party or an inline source, which strict pages forbid.
      workletPaths: { rawAudioProcessor: assetsUrl + VOICE_FILES[0], audioConcatProcessor: assetsUrl + VOICE_FILES[1] },
      libsampleratePath: assetsUrl + VOICE_FILES[2],
      onMessage({ message, role }) {
        caption.textContent = message;
        host.add(role === "user" ? "user" : "assistant", message);
      },
      onModeChange: (change) => {
        mode = change.mode;
        showMode();
      },
      onDisconnect: ({ reason }) => (reason === "error" ? fail(strings.network) : end()),
      onError: () => {},
    });
    if (isOver) {
      void started.endSession();
      return;
    }
    conversation = started;
    drawLevel();
    showMode();
  }

  const root = bar.getRootNode();
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  delete bar.dataset.state;
  bar.hidden = false;
  bar.className = "voice on";
  bar.replaceChildren(orb, label, caption, h("div", { class: "controls" }, mute, hangUp));
  show("connecting");
  // The button that was pressed goes away.
  if (root instanceof ShadowRoot && root.activeElement) hangUp.focus();
  run().catch((error: unknown) => {
    const name = error instanceof Error ? error.name : "";
    if (!navigator.mediaDevices || /NotAllowed|Security/.test(name)) return fail(strings.microphoneRefused);
    if (/NotFound|NotReadable/.test(name)) return fail(strings.microphoneMissing);
    console.warn("companion-chat:", error);
    fail(describeFailure(error));
  });
  return { end };
}
