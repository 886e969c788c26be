/** The conversation as this browser knows it: kept for all tabs and over reloads, since the server gives no history back to strangers. */

import type { CitedSource, Confirmation } from "../../reply-reader/reply-reader.ts";
import type { ConversationWithMessages } from "../sdk/history.ts";
import { isUuid, makeUuid } from "../sdk/ids.ts";
import { keyPrefix, openStorage } from "../sdk/storage.ts";
import { draftsKey } from "./drafts.ts";

/** `waiting`: not sent yet. `streaming`: under way, in this tab or in another. */
export type MessageState = "done" | "streaming" | "stopped" | "incomplete" | "failed" | "waiting";

/** A call that the visitor is to decide on. */
export interface AskedCall extends Confirmation {
  /** When it was asked for, epoch milliseconds. */
  at: number;
  /** `decided`: elsewhere, so it is not known how. */
  choice?: "confirmed" | "declined" | "decided" | "expired" | undefined;
}

export interface Message {
  /** Of a reply, also its message's name at the server. */
  id: string;
  role: "user" | "assistant";
  text: string;
  /** Epoch milliseconds. */
  at: number;
  state: MessageState;
  /** While a reply is under way: when its tab last reported. */
  seenAt?: number;
  /** Of a reply: what is missing may still be had from the server. */
  isOpen?: boolean | undefined;
  /** Of a question that the server may have heard, although no reply came: the name that it was given. */
  replyId?: string | undefined;
  /** Of a whole reply: what its markers stand for. */
  sources?: CitedSource[];
  /** Of a reply under way: what its tools are doing, by the key of the words for it. */
  work?: "looking" | "doing" | null;
  /** Of a reply: what it ends with. */
  asks?: AskedCall;
  /** It followed a decision, or has one: the visitor cannot ask for that once more. */
  isFinal?: boolean;
  /** Its position in the conversation, where that is known. */
  seq?: number;
  /** Of a reply that was read in part: all of it, as the server sent it. */
  whole?: string;
  /** The name of the person who wrote it; empty: that of the companion. */
  by?: string;
  /** What the visitor said of a reply. */
  rating?: "up" | "down" | null;
}

/** What the visitor decided on the call that a message asks for. */
export interface Decision {
  callId: string;
  approve: boolean;
  /** Takes note of a failure, or of a stop, which is null; returns what the visitor must still be shown, or null. */
  fail(error: unknown, reply: Message): unknown;
}

/** A question and its reply, while that is under way in this tab. */
export interface Turn {
  asked: Message;
  reply: Message;
}

/** A conversation that was left for a new one. */
export interface Previous {
  sessionId: string;
  messages: Message[];
}

const maxMessages = 200;
/** Conversations that were left, and their length in all: the page's own scripts need room, too. */
const maxEarlier = 5;
const maxEarlierLength = 300_000;
/** A tab with a running reply reports at this interval; after three times as long it is considered closed. */
export const pulseMs = 2_000;

export interface ConversationStore {
  load(): Message[];
  /** Changes what is kept now, whichever tab wrote it; returns what it has become. */
  change(edit: (kept: Message[]) => Message[]): Message[];
  /** The newest first. */
  loadEarlier(): Previous[];
  saveEarlier(earlier: Previous[]): void;
  forget(): void;
  /** Calls when another tab has changed something; returns a function that stops. */
  watch(onChange: () => void): () => void;
}

export function createConversationStore(token: string): ConversationStore {
  const storage = openStorage("localStorage");
  const prefix = keyPrefix(token);
  const messagesKey = `${prefix}messages`;
  const previousKey = `${prefix}previous`;

  function load(): Message[] {
    return readMessages(parse(storage.getItem(messagesKey)));
  }

  return {
    load,
    change(edit) {
      const next = edit(load()).slice(-maxMessages);
      storage.setItem(messagesKey, JSON.stringify(next));
      return next;
    },
    loadEarlier() {
      // Earlier versions kept one, outside a list.
      const kept = [parse(storage.getItem(previousKey))].flat().slice(0, maxEarlier);
      const read = kept.map((one) => ({
        sessionId: Object(one).sessionId,
        messages: readMessages(Object(one).messages),
      }));
      return read.filter(({ sessionId, messages }) => isUuid(sessionId) && messages.length > 0);
    },
    saveEarlier(earlier) {
      const kept = earlier.slice(0, maxEarlier);
      while (kept.length > 1 && JSON.stringify(kept).length > maxEarlierLength) kept.pop();
      storage.setItem(previousKey, kept.length ? JSON.stringify(kept) : "");
    },
    forget() {
      for (const key of [messagesKey, previousKey, `${prefix}unread`]) storage.removeItem(key);
      openStorage("sessionStorage").removeItem(draftsKey(token));
    },
    watch(onChange) {
      // No key: the page has cleared all of the storage.
      const hear = ({ key }: StorageEvent) => (key === null || key.startsWith(prefix)) && onChange();
      window.addEventListener("storage", hear);
      return () => window.removeEventListener("storage", hear);
    },
  };
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text || "null");
  } catch {
    return null;
  }
}

/** Other scripts of the page can write there, too, and earlier versions gave no ids. */
function readMessages(kept: unknown): Message[] {
  if (!Array.isArray(kept)) return [];
  return kept
    .filter(isMessage)
    .map((message) => settle({ ...message, id: message.id || `${message.role}-${message.at}` }))
    .filter(({ text, state, asks }) => text || asks || state === "streaming");
}

function isMessage(value: unknown): value is Message {
  const { role, text, at } = Object(value);
  return /^(user|assistant)$/.test(role) && typeof text === "string" && Number.isFinite(at);
}

/** Whether no tab reads this reply any more. */
function isAbandoned({ state, seenAt = 0 }: Message): boolean {
  return state === "streaming" && Date.now() - seenAt >= 3 * pulseMs;
}

/** What cannot be gone on with is incomplete. */
function settle(message: Message): Message {
  return isAbandoned(message) && !message.isOpen ? { ...message, state: "incomplete" } : message;
}

export function makeMessage(role: Message["role"], state: MessageState, id = makeUuid()): Message {
  return { id, role, text: "", at: Date.now(), state };
}

/** A reply that can be gone on with, and its question: one whose page went away, or the last one that was cut off. */
export function findOpenTurn(messages: Message[], wasCut: boolean): Turn | null {
  const index = messages.findIndex((message, at) => {
    if (!message.isOpen) return false;
    return wasCut ? message.state === "incomplete" && at === messages.length - 1 : isAbandoned(message);
  });
  const [asked, reply] = [messages[index - 1], messages[index]];
  return asked?.role === "user" && reply ? { asked, reply } : null;
}

/** A conversation as the server has it. */
export function readHistory({ messages, message_count }: ConversationWithMessages): Message[] {
  const read = messages.map(({ id, role, text, complete, author, created_at }, index): Message => {
    const state = complete || role === "user" ? "done" : "incomplete";
    const by = author && { by: author.name ?? "" };
    return {
      id,
      role,
      text,
      at: Date.parse(created_at),
      state,
      seq: message_count - messages.length + index + 1,
      ...by,
    };
  });
  // Without a word, a reply asked for a decision: the card is only where it was drawn first.
  return read.filter(({ text }) => text);
}

/** Puts question and reply at the end, after questions asked meanwhile, and removes an earlier reply to it. */
export function beginTurn(kept: Message[], { asked, reply }: Turn): Message[] {
  const index = kept.findIndex(({ id }) => id === asked.id);
  const next = kept.findIndex(({ role }, at) => at > index && role === "user");
  const others = kept.filter((_, at) => at < index || (next > 0 && at >= next));
  return [...others, asked, reply];
}

/** Writes both where they stand; nothing where the conversation is another by now, and no reply without a word. */
export function settleTurn(kept: Message[], { asked, reply }: Turn): Message[] {
  const others = kept.filter(({ id }) => id !== reply.id);
  const index = others.findIndex(({ id }) => id === asked.id);
  if (index < 0) return kept;
  const isEmpty = !reply.text && !reply.asks && reply.state !== "streaming";
  others.splice(index, 1, asked, ...(isEmpty ? [] : [reply]));
  return others;
}

/** What is kept, in the objects that are drawn already. Of the turn under way this tab knows more than what is kept. */
export function mergeMessages(kept: Message[], drawn: Message[], turn: Turn | null): Message[] {
  const own = turn ? [turn.asked, turn.reply] : [];
  const known = new Map([...drawn, ...own].map((message) => [message.id, message]));
  return kept.map((message) => {
    const mine = known.get(message.id);
    if (!mine) return message;
    // What is no longer kept of it is gone.
    return own.includes(mine) ? mine : Object.assign(mine, { isOpen: undefined, replyId: undefined }, message);
  });
}
