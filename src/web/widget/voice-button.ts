/** The button that starts a voice session; the code that runs one is loaded on the first click. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import { h, iconButton, icons } from "./dom.ts";
import type { Strings } from "./strings.ts";

/** What the widget lends to the part that runs a session. */
export interface VoiceHost {
  /** Where the session shows its state and its buttons. */
  bar: HTMLElement;
  strings: Strings;
  /** The companion's. */
  name: string;
  /** Ends with a slash; the worklets are beneath it. */
  assetsUrl: string;
  /** A new session's address. */
  open(): Promise<string>;
  say(text: string): void;
  /** Adds what was said aloud to the conversation. */
  add(role: "user" | "assistant", text: string): void;
  emit(name: string, detail: unknown): void;
  /** The session is over; the bar may go. `hadFocus`: one of its buttons, which are gone now. */
  ended(hadFocus: boolean): void;
}

export interface VoiceSessionControl {
  end(): void;
}

export interface VoiceModule {
  startVoice(host: VoiceHost): VoiceSessionControl;
}

export interface VoiceButton {
  button: HTMLElement;
  bar: HTMLElement;
  draw(): void;
  close(): void;
}

export function createVoiceButton(
  chat: Chat,
  strings: Strings,
  announcer: Announcer,
  { assetsUrl, emit }: { assetsUrl: string; emit(name: string, detail: unknown): void },
): VoiceButton {
  const bar = h("div", { class: "voice" });
  const button = iconButton("tool", icons.microphone, strings.voiceStart, () => void start());
  let session: VoiceSessionControl | null = null;
  let isClosed = false;
  bar.hidden = true;

  async function start(): Promise<void> {
    bar.hidden = false;
    bar.textContent = strings.voiceConnecting;
    let voice: VoiceModule;
    try {
      voice = await import(/* @vite-ignore */ assetsUrl + VOICE_FILE);
    } catch {
      bar.textContent = strings.voiceFailed;
      announcer.say(strings.voiceFailed);
      return;
    }
    if (isClosed || session) return;
    session = voice.startVoice({
      bar,
      strings,
      name: chat.source.config?.name ?? strings.assistant,
      assetsUrl,
      emit,
      open: () => chat.client.voice(),
      say: (text) => announcer.say(text),
      add: (role, text) => chat.add(role, text),
      ended(hadFocus) {
        session = null;
        draw();
        if (hadFocus) button.focus();
      },
    });
    draw();
  }

  function draw(): void {
    button.hidden = !chat.source.config?.has_voice || !!session;
  }

  return {
    button,
    bar,
    draw,
    close() {
      isClosed = true;
      session?.end();
    },
  };
}
