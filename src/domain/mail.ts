/** Mail that the server writes: what there is of it, how often it is tried, and how much an account may send. */

/**
 * One-time links, sealed with their address until they are sent; a `notice` to one of the team of what waits in a
 * conversation; an `answer`: what people wrote, to the contact that a visitor has left.
 */
export type MailKind = "invitation" | "reset_link" | "notice" | "answer";

/** Of an account, on a UTC day; what comes on top is dropped. */
export const mailsPerDay = 200;

/** After each try that failed but the last: six tries within six hours. */
const retryMinutes = [1, 5, 30, 120, 204] as const;
export const mailTries = retryMinutes.length + 1;

/** When a mail that was tried so often is tried again; null: never. */
export function findNextTry(tries: number, nowMs: number): number | null {
  const minutes = retryMinutes[tries - 1];
  return minutes === undefined ? null : nowMs + minutes * 60_000;
}

/** How long one that failed for good is kept, and one that no one has sent, as where mail was switched off. */
export const failedMailKeptMs = 24 * 60 * 60_000;
