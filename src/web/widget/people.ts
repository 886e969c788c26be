/** People who may step in: buttons to reach them, and when what listens to them is loaded. Who answers is kept for all tabs. */
import type { ConversationState } from "../../reply-reader/reply-reader.ts";
import { keyPrefix, openStorage } from "../sdk/storage.ts";
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import { h, textButton } from "./dom.ts";
import type { Live } from "./live.ts";
import type { PanelHost } from "./panel-host.ts";
import type { KeptPeople, PeopleParts } from "./people-parts.ts";
import type { Strings } from "./strings.ts";

export const loadFeedback = (load: PanelHost["load"]) =>
  load<typeof import("./feedback.ts")>(FEEDBACK_FILE, FEEDBACK_INTEGRITY, "feedback.js");

export function createPeople(chat: Chat, strings: Strings, announcer: Announcer, host: PanelHost) {
  const { client, source } = chat;
  const { load } = host;
  const storage = openStorage("localStorage");
  const key = `${keyPrefix(host.token)}people`;
  const ask = textButton("out", strings.askPerson, () => void getLive()?.then((live) => live.ask()));
  const leave = textButton("out", strings.leaveContact, openForm);
  const element = h("div", { class: "people" }, ask, leave);
  let live: Promise<Live> | null = null;
  let question: Promise<() => void> | null = null;

  function read(): KeptPeople {
    const none = { state: "companion" as const, name: null, until: null, reason: null, at: 0, typingAt: 0, seen: 0 };
    try {
      const { session, ...kept } = JSON.parse(storage.getItem(key) || "{}");
      // Asking for an id makes one: nothing of it may be kept for a visitor who has signed out.
      return session && session === client.sessionId ? { ...none, ...kept } : none;
    } catch {
      return none;
    }
  }

  function write(change: Partial<KeptPeople>): void {
    storage.setItem(key, JSON.stringify({ ...read(), ...change, session: client.sessionId }));
    chat.isHeld = read().state !== "companion";
  }

  /** Outside the companion, or asked, and while the panel is open: what came meanwhile can be fetched for a day. */
  function isWanted(): boolean {
    const { handoff } = source.config ?? {};
    if (!handoff || client.isForeign) return false;
    // Before its first turn is kept the server knows no conversation.
    const mayFollow =
      read().at ||
      chat.messages.some(({ by, role, state }) =>
        handoff.listen ? role === "assistant" && state === "done" : by !== undefined,
      );
    return chat.isHeld || !!(host.isOpen() && mayFollow);
  }

  const parts: PeopleParts = { chat, strings, announcer, host, element, read, write, isWanted, openForm };

  function openForm(): void {
    loadFeedback(load).then((feedback) => feedback.openForm(parts), console.warn);
  }

  function getLive(): Promise<Live> {
    live ??= load<typeof import("./live.ts")>(LIVE_FILE, LIVE_INTEGRITY, "live.js").then(({ createLive }) =>
      createLive(parts),
    );
    // Loaded again when something is drawn.
    live.catch(() => {
      live = null;
    });
    return live;
  }

  function draw(): void {
    const { config } = source;
    const { handoff, leads, ask_resolved } = config ?? {};
    const { state, isOffered, canLeave } = read();
    // The owner has taken people out: the next page need not listen.
    if (config && !handoff && state !== "companion") write({ state: "companion" });
    chat.isHeld = !!handoff && state !== "companion";
    ask.hidden = chat.isHeld || !handoff || !(handoff.ask || isOffered);
    leave.hidden = chat.isHeld || !leads || !(leads.when === "always" || !handoff?.available || canLeave);
    if (live || isWanted()) void getLive().then((loaded) => loaded.draw(), console.warn);
    const last = chat.messages.at(-1);
    if (ask_resolved && last?.role === "assistant")
      question ??= loadFeedback(load).then(({ createQuestion }) => createQuestion(parts));
    question?.then(
      (drawQuestion) => drawQuestion(),
      () => {
        question = null;
      },
    );
  }

  return {
    element,
    draw,
    /** Null: a person is offered. */
    answers(state: ConversationState | null): void {
      write(
        state
          ? { ...state, name: state.person?.name ?? null, at: Date.now(), reopens: undefined }
          : { isOffered: true },
      );
      if (!state) announcer.say(strings.askPerson);
      draw();
    },
    close(): void {
      void live?.then((loaded) => loaded.close());
    },
  };
}
