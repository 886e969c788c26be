/**
 * What the instances of a server tell each other that is worth nothing later: that a conversation has changed, that
 * somebody types. Nothing is kept: whoever must not miss a change also asks the store now and then.
 *
 * Engines: `engines/memory/announcements.ts` for a single process; a storage engine that several processes share brings
 * its own. `test/contracts/announcements.ts` tests every engine.
 */
export interface Announcements {
  /**
   * Tells all other instances, soon and together with others; never this one, which knows. Returns at once, and cannot
   * fail: what cannot be told is lost. At most 500 bytes of UTF-8, without line breaks. Call it after the commit.
   */
  send(text: string): void;
  /** Called with what other instances have told, in the order in which each has told it; and once after each loss of contact. */
  onReceived(listener: (received: { readonly text: string } | "may_have_missed") => void): void;
  /** Whether there can be other instances: if not, nothing is ever missed, and nobody need ask the store. */
  readonly isShared: boolean;
}
