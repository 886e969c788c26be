/** The conversation as this browser knows it: kept over reloads, since the server gives no history back. */
import { openStorage } from "../sdk/storage.ts";

export type MessageState = "done" | "streaming" | "stopped" | "cut" | "failed";

export interface Message {
  role: "user" | "assistant";
  text: string;
  /** Epoch milliseconds. */
  at: number;
  state: MessageState;
}

const maxMessages = 200;
const maxCharacters = 200_000;

export interface ConversationKeeper {
  load(): Message[];
  save(messages: readonly Message[]): void;
}

export function createConversationKeeper(token: string): ConversationKeeper {
  const storage = openStorage("localStorage");
  const key = `companion:${token}:messages`;
  return {
    load() {
      try {
        const kept: unknown = JSON.parse(storage.getItem(key) ?? "[]");
        // Other scripts of the page can write there, too.
        return Array.isArray(kept) ? kept.filter(isMessage).map(settle) : [];
      } catch {
        return [];
      }
    },
    save(messages) {
      const kept = messages.slice(-maxMessages);
      let characters = kept.reduce((sum, { text }) => sum + text.length, 0);
      while (characters > maxCharacters) characters -= kept.shift()?.text.length ?? 0;
      if (kept.length) storage.setItem(key, JSON.stringify(kept));
      else storage.removeItem(key);
    },
  };
}

function isMessage(value: unknown): value is Message {
  const { role, text, at, state } = Object(value);
  return (
    /^(user|assistant)$/.test(role) && typeof text === "string" && Number.isFinite(at) && typeof state === "string"
  );
}

/** A page that went away in the middle of a reply leaves it cut; before its first word, the message unanswered. */
function settle(message: Message): Message {
  return message.state === "streaming" ? { ...message, state: "cut" } : message;
}
