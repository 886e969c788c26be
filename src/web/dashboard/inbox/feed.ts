/** Conversations outside plain talk as they stand: one stream for all tabs of a browser, read by one of them. */
import { followEvents, type ServerEvent } from "../lib/event-stream.ts";
import { State } from "../lib/state.ts";
import type { ListedConversation as Conversation } from "../lib/types.ts";

export interface Person {
  id: string;
  name: string | null;
}

export interface TypingMark {
  conversation_id: string;
  typing: boolean;
  who: { type: "visitor" | "person"; id: string | null; name: string | null };
}

interface PresenceFacts {
  members: Person[];
  /** Of the person who is signed in. */
  available: boolean;
}

type Rows = ReadonlyMap<string, Conversation>;

export const inboxRows = new State<Rows>(new Map());
export const typingMarks = new State<readonly TypingMark[]>([]);
/** Null until the server has sent it. */
export const presence = new State<PresenceFacts | null>(null);
/** Null before the first connection. */
export const isConnected = new State<boolean | null>(null);

/** Conversations that wait for the person who is signed in. */
export const inboxCount = new State(0);

/** What tabs send each other. */
type Pulse =
  | { type: "event"; event: ServerEvent }
  | { type: "open"; isOpen: boolean }
  | { type: "ask" }
  | {
      type: "state";
      rows: Conversation[];
      presence: PresenceFacts | null;
      isOpen: boolean | null;
      lastId: string | null;
    }
  | { type: "focus"; tab: string; isFocused: boolean };

/** Of the server's: a mark that is not repeated is over. */
const typingMs = 6500;
/** The newest conversations in which there is nothing to do; the page of conversations lists all. */
const maxSettled = 200;

let share: (pulse: Pulse) => void = () => {};

/**
 * Follows the inbox of this person until the returned function is called. `onNews`: a row has changed, in the one tab that
 * reads the stream, with whether another tab has the focus.
 */
export function followInbox(
  personId: string,
  onNews: (before: Conversation | undefined, after: Conversation, isSeenElsewhere: boolean) => void,
): () => void {
  const name = `companiond-inbox ${personId}`;
  const channel = new BroadcastChannel(name);
  const ended = new AbortController();
  let lastId: string | null = null;
  let isLeader = false;
  /** Only what came after the first state is news. */
  let isCurrentMs = Number.POSITIVE_INFINITY;
  const tab = crypto.randomUUID();
  /** Another tab's id. */
  let focusedTab: string | null = null;
  let stop = () => {};

  function take({ type, data, id }: ServerEvent): void {
    lastId = id ?? lastId;
    if (type === "conversation") {
      const row = data as Conversation;
      const before = inboxRows.value.get(row.id);
      setRow(row);
      typingMarks.value = typingMarks.value.filter(
        (mark) => mark.conversation_id !== row.id || before?.message_count === row.message_count,
      );
      if (isLeader && Date.now() > isCurrentMs) onNews(before, row, focusedTab !== null);
    } else if (type === "typing") takeTyping(data as TypingMark);
    else if (type === "presence") presence.value = data as PresenceFacts;
  }

  channel.onmessage = ({ data: pulse }: MessageEvent<Pulse>) => {
    if (pulse.type === "event") take(pulse.event);
    else if (pulse.type === "open") isConnected.value = pulse.isOpen;
    else if (pulse.type === "focus") {
      // One tab's loss may arrive after the other's gain.
      if (pulse.isFocused) focusedTab = pulse.tab;
      else if (focusedTab === pulse.tab) focusedTab = null;
    } else if (pulse.type === "ask" && isLeader) {
      const state = { presence: presence.value, isOpen: isConnected.value, lastId };
      share({ type: "state", rows: [...inboxRows.value.values()], ...state });
    } else if (pulse.type === "state" && !isLeader) {
      inboxRows.value = new Map(pulse.rows.map((row) => [row.id, row]));
      ({ presence: presence.value, isOpen: isConnected.value, lastId } = pulse);
    }
  };
  share = (pulse) => channel.postMessage(pulse);
  share({ type: "ask" });
  const shareFocus = ({ type }: { type: string }) => {
    share({ type: "focus", tab, isFocused: type !== "pagehide" && document.hasFocus() });
  };
  for (const event of ["focus", "blur", "pagehide", "pageshow"]) {
    window.addEventListener(event, shareFocus, { signal: ended.signal });
  }
  shareFocus({ type: "focus" });

  function lead(): void {
    isLeader = true;
    // What stood there before is sent first, all of it.
    isCurrentMs = lastId === null ? Date.now() + 3000 : 0;
    stop = followEvents("/api/inbox/events?include=excerpts", {
      lastId,
      onEvent(event) {
        take(event);
        share({ type: "event", event });
      },
      onOpen(isOpen) {
        isConnected.value = isOpen;
        share({ type: "open", isOpen });
      },
    });
  }

  if (navigator.locks === undefined) lead();
  else {
    const held = new Promise<void>((resolve) => ended.signal.addEventListener("abort", () => resolve()));
    const lock = navigator.locks.request(name, { signal: ended.signal }, () => {
      lead();
      return held;
    });
    lock.catch(() => {});
  }
  return () => {
    stop();
    shareFocus({ type: "pagehide" });
    ended.abort();
    channel.close();
    share = () => {};
    inboxRows.value = new Map();
    typingMarks.value = [];
    presence.value = null;
    isConnected.value = null;
  };
}

function setRow(row: Conversation): void {
  const rows = new Map([...inboxRows.value, [row.id, row]]);
  const settled = [...rows.values()].filter(isSettled);
  if (settled.length > maxSettled) {
    const oldest = settled.reduce((one, other) => (other.updated_at < one.updated_at ? other : one));
    rows.delete(oldest.id);
  }
  inboxRows.value = rows;
}

const isSettled = ({ state, status }: Conversation) => state === "companion" && status !== "open";

/** What this tab knows better than the stream, such as what was read just now. */
export function changeRow(id: string, change: Partial<Conversation>): void {
  const row = inboxRows.value.get(id);
  if (row === undefined) return;
  const event = { type: "conversation", data: { ...row, ...change }, id: null };
  setRow(event.data);
  share({ type: "event", event });
}

/** It was deleted. */
export function dropRow(id: string): void {
  inboxRows.value = new Map([...inboxRows.value].filter(([known]) => known !== id));
}

function takeTyping(mark: TypingMark): void {
  const isSame = (one: TypingMark) =>
    one.conversation_id === mark.conversation_id && one.who.type === mark.who.type && one.who.id === mark.who.id;
  const others = typingMarks.value.filter((one) => !isSame(one));
  typingMarks.value = mark.typing ? [...others, mark] : others;
  setTimeout(() => {
    typingMarks.value = typingMarks.value.filter((one) => one !== mark);
  }, typingMs);
}

/** Whether the team owes an answer that this person might give. */
export function waitsFor({ state, status, unread, person }: Conversation, personId: string): boolean {
  if (state === "waiting") return true;
  if (state === "person") return person?.id === personId && (unread ?? 0) > 0;
  return status === "open" && (unread ?? 0) > 0;
}
