/** The conversation as this browser knows it: kept over reloads, since the server gives no history back. */
import { openStorage } from "../sdk/storage.ts";

export type MessageState = "done" | "streaming" | "stopped" | "incomplete" | "failed";

export interface Message {
  role: "user" | "assistant";
  text: string;
  /** Epoch milliseconds. */
  at: number;
  state: MessageState;
}

const maxMessages = 200;

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
        const kept: Message[] = JSON.parse(storage.getItem(key) || "[]");
        // Other scripts of the page can write there, too.
        return kept.filter(isMessage).map(settle);
      } catch {
        return [];
      }
    },
    save(messages) {
      storage.setItem(key, JSON.stringify(messages.slice(-maxMessages)));
    },
  };
}

function isMessage({ role, text, at }: Message): boolean {
  return /^(user|assistant)$/.test(role) && typeof text === "string" && !!text && Number.isFinite(at);
}

/** A page that went away in the middle of a reply leaves it incomplete. */
function settle(message: Message): Message {
  return message.state === "streaming" ? { ...message, state: "incomplete" } : message;
}
