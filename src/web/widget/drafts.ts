/** What was written and not sent, by conversation, for as long as the tab is open. */
import { keyPrefix, openStorage } from "../sdk/storage.ts";

/** Conversations, and characters of each. */
const maxDrafts = 10;
const maxLength = 8_000;

export const draftsKey = (token: string) => `${keyPrefix(token)}drafts`;

export function createDrafts(token: string) {
  const storage = openStorage("sessionStorage");
  const key = draftsKey(token);

  function read(): [sessionId: string, text: string][] {
    try {
      const kept = JSON.parse(storage.getItem(key) || "[]");
      return kept.filter((one: unknown[]) => typeof one[0] === "string" && typeof one[1] === "string");
    } catch {
      // Written by other code.
      return [];
    }
  }

  return {
    find: (sessionId: string): string => read().find(([id]) => id === sessionId)?.[1] ?? "",
    keep(sessionId: string, text: string): void {
      const others = read().filter(([id]) => id !== sessionId);
      const drafts = text ? [[sessionId, text.slice(0, maxLength)], ...others] : others;
      storage.setItem(key, JSON.stringify(drafts.slice(0, maxDrafts)));
    },
  };
}
