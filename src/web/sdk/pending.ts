/** The reply under way, noted down until it ends: after a reload the page can go on with it. */
import { isUuid } from "./ids.ts";
import { keyPrefix, type TextStorage } from "./storage.ts";

export interface PendingReply {
  messageId: string;
  sessionId: string;
  /** What the visitor asked. */
  message: string;
}

export interface PendingMessages {
  /** The newest one; null where none is under way. */
  read(): PendingReply | null;
  begin(reply: PendingReply): void;
  end(messageId: string): void;
}

export const pendingKey = (token: string) => `${keyPrefix(token)}pending`;

export function createPendingMessages(token: string, storage: TextStorage): PendingMessages {
  const key = pendingKey(token);

  function read(): PendingReply | null {
    try {
      const { message_id, session_id, message } = Object(JSON.parse(storage.getItem(key) || "null"));
      // Other scripts can write there, too.
      const isOurs = isUuid(message_id) && isUuid(session_id) && typeof message === "string";
      return isOurs ? { messageId: message_id, sessionId: session_id, message } : null;
    } catch {
      return null;
    }
  }

  return {
    read,
    begin({ messageId, sessionId, message }) {
      storage.setItem(key, JSON.stringify({ message_id: messageId, session_id: sessionId, message }));
    },
    end(messageId) {
      // Another tab may have asked something meanwhile.
      if (read()?.messageId === messageId) removeKept(storage, key);
    },
  };
}

export function removeKept(storage: TextStorage, key: string): void {
  if (storage.removeItem) storage.removeItem(key);
  else storage.setItem(key, "");
}
