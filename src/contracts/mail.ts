/**
 * A server that takes mail. An engine knows how to hand one message over, and nothing of its content, of when it is tried
 * again, or of where it is kept meanwhile: that is `core/mail`.
 *
 * Problems are sentences for operators. They name the server, and what it replied by its codes alone: neither addresses, which
 * servers like to repeat, nor anything of the message or of the password.
 */
import { AppError } from "../domain/errors.ts";

/** Where the server is, and who signs in there. */
export interface MailLocation {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: TLS from the first byte. `starttls`: nothing but the greeting before TLS. `none needed`: on this machine, where
   * TLS is used if it is offered, and there is no sign-in.
   */
  readonly tls: "implicit" | "starttls" | "none needed";
  /** Null: no sign-in. */
  readonly signIn: { readonly user: string; readonly password: string } | null;
}

export interface MailAddress {
  /** May be empty. Control characters, line breaks among them, are left out of the header. */
  readonly name: string;
  readonly address: string;
}

/** One message to one person, as plain text. */
export interface MailMessage {
  /** What is before the `@` of its `Message-ID`, whose rest is the sender's domain: the same for each try. */
  readonly id: string;
  readonly from: MailAddress;
  readonly to: MailAddress;
  readonly replyTo: MailAddress | null;
  readonly subject: string;
  readonly text: string;
  /** Its `Date`, the same for each try. */
  readonly writtenAtMs: number;
}

/**
 * - `sent`: the server has accepted responsibility for the message.
 * - `later`: it did not take it this time, or it is not known whether it did. Sent again, the message may arrive twice, which
 *   its `Message-ID` reveals.
 * - `rejected`: it will never take this message: it replied to it with 5xx. A refused sign-in, as with a wrong
 *   password, is `later`, since that is for the operator to fix and no fault of the message.
 */
export type MailOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "later"; readonly problem: string }
  | { readonly kind: "rejected"; readonly problem: string };

export interface MailServer {
  /**
   * Resolves within 30 s, no matter what the server does, and never rejects. Once the signal fires it resolves with
   * `later`. Calls may run beside each other: each is a connection of its own.
   */
  send(message: MailMessage, signal: AbortSignal): Promise<MailOutcome>;
  /**
   * Connects and signs in, and sends nothing. Resolves with what it found, as a sentence; rejects within 30 s with
   * `MailFailure`.
   */
  check(): Promise<string>;
}

/** Why no mail can be sent, and what to change. */
export class MailFailure extends AppError {
  readonly advice: string;

  constructor(sentence: string, advice: string) {
    super("unavailable", sentence);
    this.advice = advice;
  }
}
