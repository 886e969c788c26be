/** The rules for new passwords. No composition rules, which make passwords worse. Existing passwords stay valid. */
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
  if (isCommon(password))
    return "This is one of the most common passwords, which attackers try first. Choose another one.";
  return null;
}

/** A linear search: passwords are set too rarely to keep an index in memory. */
function isCommon(password: string): boolean {
  const word = password.normalize("NFC").toLowerCase();
  return !/\s/.test(word) && commonPasswords.some((line) => ` ${line} `.includes(` ${word} `));
}
