/** The rule for names of companions, API keys and embed tokens, used wherever a name is accepted. */

export const maxNameLength = 100;

/** The rule as a sentence, for error messages. */
export const nameProblem = `Must be 1 to ${maxNameLength} characters of well-formed text without NUL, and not only white space.`;

/** The length is counted in code points. */
export function isName(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0") && text.trim() !== "" && [...text].length <= maxNameLength;
}
