/** Announcements of a single process, which has no one to notify. */
import type { Announcements } from "../../contracts/announcements.ts";

export function createMemoryAnnouncements(): Announcements {
  return { isShared: false, send() {}, onReceived() {} };
}
