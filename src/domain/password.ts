/** What a password must be; no rules of composition, as they make passwords worse. */

const minLength = 8;
const maxBytes = 1024;

/** A public sentence, or null for an acceptable password. */
export function findPasswordProblem(password: string): string | null {
  if ([...password].length < minLength) return `The password must have at least ${minLength} characters.`;
  if (Buffer.byteLength(password, "utf8") > maxBytes) return `The password must have at most ${maxBytes} bytes.`;
  return null;
}
