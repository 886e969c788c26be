/** What a new password must be; no rules of composition, as they make passwords worse. Those that are there stay good. */
import { commonPasswords } from "./common-passwords.ts";

/** In characters. */
export const shortestPassword = 10;
const maxBytes = 1024;

/** A public sentence, or null for an acceptable password. */
export function findPasswordProblem(password: string): string | null {
  if (!password.isWellFormed() || password.includes("\0")) return "The password must be well-formed text.";
  if ([...password].length < shortestPassword) {
    return `The password must have at least ${shortestPassword} characters.`;
  }
  if (Buffer.byteLength(password, "utf8") > maxBytes) return `The password must have at most ${maxBytes} bytes.`;
  if (isCommon(password)) return "This is one of the commonest passwords, which are tried first. Choose another one.";
  return null;
}

/** Searched as it stands: a password is set too rarely for anything to be kept in memory. */
function isCommon(password: string): boolean {
  const word = password.normalize("NFC").toLowerCase();
  return !/\s/.test(word) && commonPasswords.some((line) => ` ${line} `.includes(` ${word} `));
}
