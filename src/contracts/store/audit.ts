/** The audit log: who changed what, when, and from where. */
import type { Page, PageRequest } from "./page.ts";

/** Who made a change, and from where. */
export interface AuditActor {
  kind: "key" | "session" | "operator" | "cli" | "system" | "visitor" | "model" | "clock";
  /** The key's or session's id; null for all others. */
  id: string | null;
  /** The client's address cut to /24 or /48; null for all others. */
  ipPrefix: string | null;
  requestId: string | null;
  /** Who it was, if not the account's own sign-in: kept by name, since the entry outlives the member. */
  member?: { id: string; name: string } | null;
  /** Of a session, its account: what it does to another's is written down as an operator's. Not kept. */
  accountId?: string;
}

export interface AuditEntry {
  id: string;
  accountId: string;
  actor: AuditActor;
  /** `companion.create`, `key.revoke`, `session.create` … */
  action: string;
  /** The id of what was changed. */
  targetId: string | null;
  /**
   * Public facts of the change: names of changed fields, a key's name; never a secret, a prompt or a visitor's word.
   */
  details: Record<string, string | number | boolean | null | string[]>;
  createdAt: number;
}

/** Which entries to list; null: whatever it is. */
export interface AuditFilter {
  /** An action, or what stands before the point of several: `key` for `key.create` and `key.revoke`. */
  readonly action: string | null;
  /** The id of a key, of a member or, for its own sign-in, of the account; or a kind of actor that has no id. */
  readonly actor: string | null;
}

/** How those are called whom an entry names by id; null where there is no name, or no longer. */
export interface AuditNames {
  readonly actor: string | null;
  /** Of a webhook its whole URL. */
  readonly target: string | null;
}

export interface AuditStore {
  /** For events that change nothing else (a failed sign-in). Changes write their entries in their own commit. */
  record(entry: AuditEntry): Promise<void>;
  /**
   * Entries of the account with `fromMs` <= createdAt < `toMs`, newest first by default. Empty if the page's cursor is not an
   * entry of it. With a filter a page may have fewer entries than its limit, or none, and go on: it reads a bounded number.
   */
  list(
    accountId: string,
    range: { fromMs: number; toMs: number },
    page: PageRequest,
    filter?: AuditFilter,
  ): Promise<Page<AuditEntry>>;
  /** By the ids of entries of the account. */
  readNames(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, AuditNames>>;
}
