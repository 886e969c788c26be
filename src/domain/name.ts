/** Names that people give to companions, API keys and embed tokens: one rule at every door. */

export const maxNameLength = 100;

/** The rule as a sentence, for whoever sent another. */
export const nameProblem = `Must be 1 to ${maxNameLength} characters of well-formed text without NUL, and not only white space.`;

/** Lengths are code points. */
export function isName(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0") && text.trim() !== "" && [...text].length <= maxNameLength;
}
