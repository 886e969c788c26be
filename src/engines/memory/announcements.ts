/** Announcements of a single process, which has nobody to tell. */
import type { Announcements } from "../../contracts/announcements.ts";

export function createMemoryAnnouncements(): Announcements {
  return { isShared: false, send() {}, onReceived() {} };
}
