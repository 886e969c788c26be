/** The audit log: who changed what, when, and from where. */
import type { Page, PageRequest } from "./page.ts";

/** Who made a change, and from where. */
export interface AuditActor {
  kind: "key" | "session" | "cli" | "system" | "visitor" | "model" | "clock";
  /** The key's or session's id; null for all others. */
  id: string | null;
  /** The client's address cut to /24 or /48; null for all others. */
  ipPrefix: string | null;
  requestId: string | null;
  /** Who it was, if not the account's own sign-in: kept by name, since the entry outlives the member. */
  member?: { id: string; name: string } | null;
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

export interface AuditStore {
  /** For events that change nothing else (a failed sign-in). Changes write their entries in their own commit. */
  record(entry: AuditEntry): Promise<void>;
  /**
   * Entries of the account with `fromMs` <= createdAt < `toMs`, newest first by default. Empty if the page's cursor is not an
   * entry of it.
   */
  list(accountId: string, range: { fromMs: number; toMs: number }, page: PageRequest): Promise<Page<AuditEntry>>;
}
