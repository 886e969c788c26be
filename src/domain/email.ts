/** E-mail addresses of accounts. */

const pattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/**
 * Trimmed and in lower case, or null if the text is not an address. A host without a dot is valid: `demo@localhost`.
 */
export function normalizeEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= 254 && pattern.test(email) ? email : null;
}
