/** Who the visitor is and which conversation goes on: two random ids, kept in the browser. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { keyPrefix, type TextStorage } from "./storage.ts";

export interface Ids {
  /** Identifies the visitor; kept across conversations. */
  readonly visitorId: string;
  /** Identifies the conversation; kept until `newConversation`. */
  readonly sessionId: string;
  /** Begins a new conversation, and returns its id. */
  newConversation(): string;
  /** Goes on with a conversation of this visitor, by its id. Throws `invalid_request` where that is no UUID. */
  resumeConversation(sessionId: string): void;
}

export const visitorKey = (token: string) => `${keyPrefix(token)}visitor`;
export const sessionKey = (token: string) => `${keyPrefix(token)}session`;
/** Whose ids these are, where a website vouched for the visitor. */
export const subKey = (token: string) => `${keyPrefix(token)}sub`;

export function createIds(token: string, storage: TextStorage): Ids {
  function keep(key: string, id: string): string {
    storage.setItem(key, id);
    return id;
  }

  function keptId(key: string): string {
    return readId(storage, key) ?? keep(key, makeUuid());
  }

  return {
    get visitorId() {
      return keptId(visitorKey(token));
    },
    get sessionId() {
      return keptId(sessionKey(token));
    },
    newConversation: () => keep(sessionKey(token), makeUuid()),
    resumeConversation(sessionId) {
      if (!isUuid(sessionId)) throw new CompanionError("invalid_request");
      keep(sessionKey(token), sessionId);
    },
  };
}

/** Null where none is kept: other scripts can write there, too. */
export function readId(storage: TextStorage, key: string): string | null {
  const kept = storage.getItem(key);
  return isUuid(kept) ? kept : null;
}

/** A random UUID, also on plain-HTTP pages, where browsers hide `crypto.randomUUID`. */
export function makeUuid(): string {
  return (
    crypto.randomUUID?.() ??
    "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
      const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
      // 8 stands for the variant's digit, of which only the lower two bits are random.
      return (Number(digit) ^ (random & (15 >> (Number(digit) / 4)))).toString(16);
    })
  );
}

export function isUuid(text: unknown): text is string {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(String(text ?? ""));
}
