/** Why a document could not be read, in sentences for its owner. */

const sentences = {
  empty: "This document is empty.",
  scanned:
    "This PDF has no text: its pages are pictures. Make one with text recognition (OCR), or add the text itself.",
  fonts:
    "The text of this PDF cannot be read: it is set in fonts that are not in the file. Save it again with its fonts " +
    "embedded, or add the text itself.",
  password: "This document needs a password. Save it without one, and add it again.",
  script: "This page shows its text only with JavaScript, which is not run here. Add the text itself, or a file.",
  broken: "This document is broken: it could not be opened. Save it again in the program that made it.",
  format: "This file is not what its name says. PDF, DOCX, HTML, Markdown, text and CSV can be read.",
  bomb: "This document unpacks to more than can be read. Split it into smaller ones.",
  long: "This document has more text than can be read. Split it into smaller ones.",
  memory: "This document takes more memory to read than is allowed. Split it into smaller ones.",
  time: "This document takes too long to read. Split it into smaller ones.",
  crashed: "This document could not be read: its reader broke off. Save it in another format, and add it again.",
} as const;

export type FailureReason = keyof typeof sentences;

export function isFailureReason(word: unknown): word is FailureReason {
  return typeof word === "string" && Object.hasOwn(sentences, word);
}

/** The document's own fault: reading the same bytes again fails again. The message is a public sentence. */
export class ReadingFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    options?: ErrorOptions,
  ) {
    super(sentences[reason], options);
  }
}
