/** What every text is freed of, from any source. */

/** Line ends become `\n`; control characters, byte-order marks and halves of surrogate pairs go. */
export function cleanText(text: string): string {
  const plain = text
    .replace(/\r\n?|[\u2028\u2029\f\v]/g, "\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
    .replace(/[\x00-\x08\x0e-\x1f\x7f\ufeff\u00ad\u200b]/g, "")
    .replace(/[\ud800-\udfff]/gu, "");
  // Not by a pattern that ends in `$`: it takes the square of the length on long runs of spaces.
  const lines = plain.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^\n+/, "")
    .trimEnd();
}

/** One line, for a title. */
export function cleanTitle(text: string | null | undefined): string | null {
  const line = cleanText(text ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? null : [...line].slice(0, 300).join("");
}

/** Whether there is anything to find in it: a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
