/** What people of the team write, and how the visitor reaches and leaves them. Loaded when one may write, or is asked for. */
import type { LiveEvent, LiveMessage } from "../sdk/live.ts";
import { h, textButton } from "./dom.ts";
import { createListener } from "./live-listener.ts";
import { createMarks } from "./live-marks.ts";
import { addLive } from "./live-messages.ts";
import { createSound } from "./live-sound.ts";
import type { PeopleParts } from "./people-parts.ts";
import { peopleEnglish } from "./people-strings.ts";
import { describe, toProblem } from "./problem.ts";
import { fill } from "./strings.ts";

export interface Live {
  draw(): void;
  ask(): Promise<void>;
  close(): void;
}

/** A typing mark lapses at the server after 6 s; one whose end was lost ends here. */
const typingMs = 7_000;

const sheet = new CSSStyleSheet();
sheet.replaceSync(LIVE_STYLE);

export function createLive(parts: PeopleParts): Live {
  const { chat, announcer, host, element, read, write, openForm } = parts;
  const { client, source } = chat;
  const { box, shadow, lang } = host;
  const strings = { ...peopleEnglish, ...parts.strings };
  const sound = createSound(host.token, strings);
  const marks = createMarks(parts);
  const cleanUp = new AbortController();
  const { signal } = cleanUp;
  let trouble = "";
  let isCut = false;
  let announced: string[] = [];
  let announcedSeq = 0;
  let announcedSession: string | undefined;
  let timer = 0;

  const listener = createListener(parts, {
    newestSeq: () => newestSeq(),
    apply,
    draw,
    onConnection(isConnected) {
      isCut = !isConnected;
      draw();
    },
  });

  const makeDots = (kind: string) => h("span", { class: `${kind}dots`, "aria-hidden": "true" }, "• • •");
  const wait = makeDots("");
  const sentence = h("span");
  const limit = h("div");
  const back = textButton("pill", strings.backToCompanion, goBack);
  const team = h("div", { class: "team" }, h("div", {}, wait, sentence, limit), back, sound.button);
  element.before(team);
  const dots = h("div", { class: "row assistant" }, makeDots("body "));
  box.querySelector(".log .notice")?.before(dots);
  const disclosure = box.querySelector(".disclosure")?.firstChild as Text;
  const subtitle = box.querySelector(".kind") as HTMLElement;
  if (!shadow.adoptedStyleSheets.includes(sheet)) shadow.adoptedStyleSheets.push(sheet);

  /** The visitor has read, written or come; with the panel opened, what came meanwhile is asked for. */
  function wake({ type }: Event): void {
    listener.wake(type === "companion:open");
    draw();
  }
  document.addEventListener("visibilitychange", draw, { signal });
  shadow.host.addEventListener("companion:open", wake, { signal });
  for (const name of ["pointerdown", "keydown"]) box.addEventListener(name, wake, { signal });
  window.addEventListener("focus", wake, { signal });
  box.addEventListener("input", marks.noteTyping, { signal });
  // An open stream and a lock keep a page from being shown again as it was.
  for (const name of ["pagehide", "pageshow"]) window.addEventListener(name, noteLeaving, { signal });

  function newestSeq(isPersons = false): number {
    return Math.max(0, ...chat.messages.map(({ seq = 0, by }) => (isPersons && by === undefined ? 0 : seq)));
  }

  function apply(event: LiveEvent): void {
    if (event.type === "typing") write({ typingAt: event.typing ? Date.now() : 0 });
    else if (event.type === "message") receive(event);
    else {
      const { state, person, until, reason } = event;
      const before = read();
      // Said again at each beginning.
      const isNew = state !== before.state || reason !== before.reason;
      write({
        ...{ state, until, reason, name: person?.name ?? null },
        ...(isNew && { at: Date.now(), typingAt: 0, reopens: undefined }),
      });
    }
    chat.change((kept) => kept);
  }

  function receive(message: LiveMessage): void {
    const isPerson = message.author.type === "person";
    if (isPerson) write({ typingAt: 0 });
    chat.change((kept) => addLive(kept, chat.messages, message));
    if (isPerson && !isSeen()) sound.ring();
  }

  const isSeen = () => host.isOpen() && !document.hidden;

  function noteLeaving({ type }: Event): void {
    const isLeaving = type === "pagehide";
    if (isLeaving) marks.endTyping();
    listener.rest(isLeaving);
    if (!isLeaving) draw();
  }

  /** What is read is said to be, once. */
  function noteSeen(): void {
    const newest = newestSeq(true);
    const { seen } = read();
    const isRead = isSeen();
    if (isRead && newest > seen) {
      write({ seen: newest });
      marks.noteSeen(newest);
    }
    const count = isRead ? 0 : chat.messages.filter(({ by, seq = 0 }) => by !== undefined && seq > seen).length;
    host.mark(count);
  }

  const toTime = (instant: string, options: Intl.DateTimeFormatOptions) =>
    new Date(instant).toLocaleString(lang, options);

  function describeState(): string {
    const { state, name, reason, at, reopens } = read();
    const shown = name || source.config?.name || "";
    if (state === "person") return fill(strings.personHere, shown);
    if (state === "waiting") return strings.personWaiting;
    // Once something was asked again, that is past.
    if (!at || chat.messages.some((message) => message.role === "user" && message.at > at)) return "";
    if (reopens !== undefined) {
      const time = reopens && toTime(reopens, { weekday: "long", hour: "numeric", minute: "2-digit" });
      return `${strings.personAway} ${time ? fill(strings.personReopens, time) : ""}`;
    }
    if (reason === "missed") return strings.personMissed;
    return reason === "visitor" ? strings.personBack : strings.personLeft;
  }

  function draw(): void {
    listener.draw();
    clearTimeout(timer);
    const { state, typingAt, until } = read();
    const isPerson = state === "person";
    const isWaiting = state === "waiting";
    const text = describeState().trim();
    sentence.textContent = [trouble, text, isCut && chat.isHeld ? parts.strings.reconnecting : ""]
      .filter(Boolean)
      .join(" ");
    limit.textContent = isWaiting && until ? fill(strings.personUntil, toTime(until, { timeStyle: "short" })) : "";
    wait.hidden = !isWaiting;
    const focused = shadow.activeElement;
    team.classList.toggle("held", chat.isHeld);
    back.hidden = sound.button.hidden = !chat.isHeld;
    team.hidden = !sentence.textContent && !chat.isHeld;
    // Without the focus, Escape would not work.
    if (focused?.getClientRects().length === 0) box.focus();
    sound.draw();
    // The visitor is to know at all times whether it is a machine.
    disclosure.data = `${isPerson ? text : strings.disclosure} `;
    const shown = isWaiting ? strings.personWaitingShort : strings.assistant;
    subtitle.textContent = isPerson ? read().name || source.config?.name || "" : shown;
    const leftMs = isPerson ? typingAt + typingMs - Date.now() : 0;
    dots.hidden = leftMs <= 0;
    if (leftMs > 0) timer = window.setTimeout(draw, leftMs);
    noteSeen();
    announce(`${text} ${limit.textContent}`.trim(), leftMs > 0);
  }

  /** What is new since it was last drawn. */
  function announce(text: string, isTyping: boolean): void {
    const shown = read().name || source.config?.name || "";
    const session = chat.messages.length ? client.sessionId : "";
    // The first message of a conversation is news, unlike those of one that is gone back to.
    if (announcedSession !== session && announcedSession !== "") announcedSeq = newestSeq();
    announcedSession = session;
    const now = [trouble || text, isTyping ? fill(strings.typing, shown) : ""];
    for (const [at, words = ""] of now.entries()) if (words !== announced[at]) announcer.say(words);
    announced = now;
    for (const { seq = 0, by, text: words } of chat.messages) {
      if (by !== undefined && seq > announcedSeq) announcer.say(`${by || shown}: ${words}`);
    }
    announcedSeq = Math.max(announcedSeq, newestSeq());
  }

  async function act(work: () => Promise<void>): Promise<void> {
    trouble = "";
    try {
      await work();
    } catch (error) {
      const { code, retryAt } = toProblem(error);
      // Taken back meanwhile.
      if (code === "conflict") write({ state: "companion", until: null });
      else trouble = fill(describe(code, parts.strings), Math.ceil(Math.max(0, retryAt - Date.now()) / 1000));
    }
    chat.change((kept) => kept);
  }

  const ask = () =>
    act(async () => {
      const companion = await client.getSdk();
      const { state, until, reopens_at: reopens, contact } = await companion.askForPerson();
      listener.wake(true);
      const now = { state, until, at: Date.now(), canLeave: contact };
      if (state !== "companion") return write({ ...now, reason: "asked", reopens: undefined });
      write({ ...now, reason: "missed", reopens });
      if (contact && source.config?.leads) openForm();
    });

  function goBack(): void {
    void act(async () => {
      await (await client.getSdk()).backToCompanion();
      write({ state: "companion", until: null, reason: "visitor", at: Date.now(), reopens: undefined });
    });
  }

  draw();
  return {
    draw,
    ask,
    close() {
      cleanUp.abort();
      listener.close();
      clearTimeout(timer);
    },
  };
}
