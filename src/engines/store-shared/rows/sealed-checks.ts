/** What is sealed in a database, as conditions of either engine's: for `StoredFacts`. */

const isAny = (...rows: string[]) => `(${rows.map((from) => `EXISTS (SELECT 1 FROM ${from})`).join(" OR ")})`;

/** Revoked keys stay: what they have verified is still sealed in conversations. */
export const hasSealed = isAny(
  ...["accounts WHERE totp_secret IS NOT NULL", "members WHERE totp_secret IS NOT NULL"],
  ...["visitor_keys", "tools", "webhooks"],
);

export const hasSealedWords = isAny(
  ...["contacts", "conversation_notes", "mails WHERE sealed IS NOT NULL"],
  ...["ratings WHERE sealed_comment IS NOT NULL", "handoff_events WHERE sealed_reason IS NOT NULL"],
);
