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
  // Any name is one line here: it must not write paragraphs of its own to strangers.
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

interface ConversationFacts {
  readonly companion: string;
  /** Of the conversation in the dashboard; null where the server does not know its own address. */
  readonly url: string | null;
  /** What the visitor wrote last; null where the member wants no visitors' words by mail. */
  readonly words: string | null;
}

/** `missed`: no one came; `contact`: no one came, and the visitor left a contact; `message`: to its holder. */
export type NoticeCause = "waiting" | "missed" | "contact" | "message";

const causes: Readonly<Record<NoticeCause, readonly [subject: string, about: (companion: string) => string]>> = {
  waiting: ["Someone is waiting", (companion) => `A visitor of ${companion} is waiting for a person.`],
  missed: [
    "Someone asked for a person",
    (companion) => `A visitor of ${companion} asked for a person, and no one came.`,
  ],
  contact: ["Someone left a contact", (companion) => `A visitor of ${companion} left a contact for you.`],
  message: ["A new message", (companion) => `The visitor of ${companion} whose conversation you have wrote again.`],
};

export function writeNoticeText(cause: NoticeCause, { companion, url, words }: ConversationFacts): MailText {
  const [subject, about] = causes[cause];
  const quoted = words === null ? [] : [words.replace(/^/gm, "> ")];
  const link = url === null ? "You find the conversation in the dashboard." : `Answer here:\n${url}`;
  return { subject: `${subject} at ${companion}`, text: join([about(companion), ...quoted, link]) };
}

/** To a visitor: what people wrote since they left. */
export function writeAnswerText(companion: string, said: readonly { name: string; text: string }[]): MailText {
  const parts = said.map(({ name, text }) => `${name}:\n${text}`);
  return { subject: `${companion}: an answer to your message`, text: join([...parts, companion]) };
}

const join = (parts: readonly string[]) => `${parts.join("\n\n")}\n`;

/** To the minute: `2026-11-27 09:30 UTC`. */
const writeTime = (epochMs: number) => `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
