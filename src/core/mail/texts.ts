/** What mail says: plain text, short, with a link where the server knows its address. */

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** Of a one-time link. Null: the server does not know its own address. */
interface LinkFacts {
  url: string | null;
  /** Who invites, or whose sign-in it is. */
  from: string;
  expiresAtMs: number;
}

export function writeInvitation({ url, from: name, expiresAtMs }: LinkFacts): MailText {
  // A name is one line here, whatever it is: it must not write paragraphs of its own to strangers.
  const from = name.replaceAll(/\s+/g, " ").trim();
  const text =
    url === null
      ? [`${from} invites you to answer visitors in their dashboard.`, "Ask them for the link of your invitation."]
      : [
          `${from} invites you to answer visitors in their dashboard. Choose a password here:`,
          url,
          `The link works once, until ${writeTime(expiresAtMs)}. If you do not know ${from}, ignore this mail.`,
        ];
  return { subject: `${from} invites you to their team`, text: join(text) };
}

export function writeResetLink({ url, from, expiresAtMs }: LinkFacts): MailText {
  return {
    subject: "Choose a new password",
    text: join([
      `Choose a new password for ${from} here:`,
      url ?? "Ask the operator of the server for the link.",
      `The link works once, until ${writeTime(expiresAtMs)}. If you did not ask for it, ignore this mail: your password stays.`,
    ]),
  };
}

const join = (parts: readonly string[]) => `${parts.join("\n\n")}\n`;

/** To the minute: `2026-11-27 09:30 UTC`. */
const writeTime = (epochMs: number) => `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
