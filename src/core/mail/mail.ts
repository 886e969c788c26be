/** Mail, as the rest of the program knows it: kept, and sent in the background. */
import type { DueMail, NewMail } from "../../contracts/store/mails.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { MailKind } from "../../domain/mail.ts";

/** What a mail says, and to whom. Made when it is sent: until then the store holds as little of it as can be. */
export interface Letter {
  readonly to: { readonly name: string; readonly address: string };
  /** An address; null for none. */
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
}

/** Links of letters to the dashboard, whose secret only they hold. */
export interface LetterOfLink extends JsonObject {
  readonly to: string;
  /** The member or account whose dashboard it is: a name, or an address. */
  readonly from: string;
  /** Below the public address. */
  readonly path: string;
  readonly expiresAtMs: number;
}

/** Writes letters of one kind. Null: no one needs it any more. `content` is what was sealed; null where nothing was. */
export type LetterWriter = (mail: DueMail, content: JsonObject | null) => Promise<Letter | null> | Letter | null;
export type LetterWriters = Readonly<Record<MailKind, LetterWriter>>;

export type MailRequest = Pick<NewMail, "accountId" | "kind"> &
  Partial<Pick<NewMail, "companionId" | "conversationId" | "memberId" | "expiresAtMs">> & {
    /** Sealed until it is sent; null where all of it is looked up then. */
    readonly content: JsonObject | null;
    /** By default immediately. */
    readonly dueAtMs?: number;
  };

export interface Mail {
  /** Whether this server sends mail. If not, none is kept. */
  readonly isOn: boolean;
  /** Keeps it; it is sent soon after. False: no mail is sent here, its account has had the day's number, or what it is about is gone. */
  send(request: MailRequest): Promise<boolean>;
  /** Something may be due. Returns immediately. */
  wake(): void;
  /** Resolves when nothing is due and nothing under way. For tests. */
  whenIdle(): Promise<void>;
  /** Within a second; what is under way then is sent again after its lease, by the next start or another server. */
  close(): Promise<void>;
}

export const noMail: Mail = {
  isOn: false,
  send: async () => false,
  wake: () => {},
  whenIdle: async () => {},
  close: async () => {},
};
