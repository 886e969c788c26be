/** Dashboards and platforms that follow the conversations of an account, by account. */

import type { ListenerRights } from "./listener-rights.ts";
import type { InboxEvent, InboxListener, ListenerRight } from "./live.ts";

interface Entry {
  readonly listener: InboxListener;
  readonly memberId: string | null;
}

export class InboxListeners {
  readonly #entries = new Map<string, Set<Entry>>();
  readonly #rights: ListenerRights;

  constructor(rights: ListenerRights) {
    this.#rights = rights;
  }

  /** Accounts that someone follows. */
  get size(): number {
    return this.#entries.size;
  }

  has(accountId: string): boolean {
    return this.#entries.has(accountId);
  }

  /** Returns what removes it. */
  add(accountId: string, memberId: string | null, right: ListenerRight, listener: InboxListener): () => void {
    const entries = this.#entries.get(accountId) ?? new Set();
    this.#entries.set(accountId, entries);
    const entry = { listener, memberId };
    entries.add(entry);
    const endWatch = this.#rights.watch(right, () => listener.take({ type: "end", reason: "unavailable" }));
    return () => {
      endWatch();
      entries.delete(entry);
      if (entries.size === 0 && this.#entries.get(accountId) === entries) this.#entries.delete(accountId);
    };
  }

  send(accountId: string, event: InboxEvent): void {
    for (const { listener } of this.#entries.get(accountId) ?? []) listener.take(event);
  }

  sendAll(event: InboxEvent): void {
    for (const accountId of this.#entries.keys()) this.send(accountId, event);
  }

  /** Those who listen, each once. */
  listMembers(): string[] {
    const members = new Set<string>();
    for (const entries of this.#entries.values()) {
      for (const { memberId } of entries) if (memberId !== null) members.add(memberId);
    }
    return [...members];
  }
}
