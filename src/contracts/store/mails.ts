/** The outbox of mail: kept before it is sent, and gone with what it is about. */
import type { MailKind } from "../../domain/mail.ts";

export interface NewMail {
  /** A UUID, which becomes its `Message-ID`. */
  readonly id: string;
  readonly accountId: string;
  /** What it is about: a mail goes with any of these that is deleted or erased. Null: of none. */
  readonly companionId: string | null;
  readonly conversationId: string | null;
  /** The member whom it is to, or about; null for visitors. The account's own sign-in has the account's id. */
  readonly memberId: string | null;
  readonly kind: MailKind;
  /** Its address and what its text is made of; null where all of that is read when it is sent. */
  readonly sealed: string | null;
  readonly createdAtMs: number;
  /** When it is sent first. */
  readonly dueAtMs: number;
  /** From then on no one needs it; null: whenever it arrives. */
  readonly expiresAtMs: number | null;
}

export interface DueMail extends NewMail {
  /** How often it was tried before. */
  readonly tries: number;
}

/**
 * - `kept`: it will be sent.
 * - `dropped`: its account has had `mailsPerDay` on that UTC day; `isFirst` for the first one that is.
 * - `absent`: what it is about is gone.
 */
export type MailAdded =
  | { readonly result: "kept" | "absent" }
  | { readonly result: "dropped"; readonly isFirst: boolean };

/** `done`: sent, or no longer wanted. `failed`: for good, for a reason without addresses. */
export type MailEnd =
  | { readonly state: "done" }
  | { readonly state: "waiting"; readonly dueAtMs: number }
  | { readonly state: "failed"; readonly problem: string };

export interface MailStore {
  /** One commit. Stores that write mail in the commit of what it is about call what this calls. */
  add(mail: NewMail): Promise<MailAdded>;
  /** Called after each commit of this process that was to keep mail, once for each account. */
  onAdded(listener: (accountId: string, added: readonly MailAdded[]) => void): void;
  /**
   * Mails that are due, oldest first, which no other caller is given before `untilMs`, across all processes. Each counts as a
   * try from then on. Only reads if nothing is due.
   */
  takeDue(nowMs: number, untilMs: number, limit: number): Promise<DueMail[]>;
  /** What became of one that was taken; nothing if it is gone. */
  finish(id: string, end: MailEnd, nowMs: number): Promise<void>;
  /** When the next one is due; null if none waits. */
  findNextDue(): Promise<number | null>;
  /** Deletes up to `limit` mails that have failed, or become due, before `beforeMs`; returns how many. */
  purge(beforeMs: number, limit: number): Promise<number>;
}
