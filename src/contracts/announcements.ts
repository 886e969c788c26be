/**
 * Short-lived notices between the instances of a server: that a conversation has changed, that
 * someone types. Nothing is kept: a receiver that must not miss a change also polls the store.
 *
 * Engines: `engines/memory/announcements.ts` for a single process; a storage engine that several processes share brings
 * its own. `test/contracts/announcements.ts` tests every engine.
 */
export interface Announcements {
  /**
   * Sent to all other instances, soon and together with others; never to this one. Returns immediately, and cannot
   * fail: what cannot be sent is lost. At most 500 bytes of UTF-8, without line breaks. Call it after the commit.
   */
  send(text: string): void;
  /** Called with other instances' announcements, in each one's order; and once after each loss of contact. */
  onReceived(listener: (received: { readonly text: string } | "may_have_missed") => void): void;
  /** Whether there can be other instances: if not, nothing is ever missed, and no one needs to poll the store. */
  readonly isShared: boolean;
}
