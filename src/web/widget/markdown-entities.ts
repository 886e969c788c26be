/** Characters by their names in HTML. What they stand for is text: never read as markup, nor as Markdown. */

/** Those that replies use; all of HTML's two thousand would outweigh the rest of the widget. Others stay as written. */
const known =
  "amp & lt < gt > quot \" apos ' nbsp \u00a0 hellip … ndash – mdash — bull • times × rarr → copy © reg ® euro €".split(
    " ",
  );
const characters = new Map<string, string>();
for (const [index, name] of known.entries()) if (index % 2 === 0) characters.set(name, known[index + 1] ?? "");

/** The entity at this index, and how long it is written; null where there is none. */
export function readEntity(text: string, at: number): { char: string; length: number } | null {
  const [source, name = "", decimal, hex] =
    /^&(?:([a-z]{2,6}\d{0,2})|#(\d{1,7})|#x([\da-f]{1,6}));/i.exec(text.slice(at, at + 12)) ?? [];
  if (!source) return null;
  const code = decimal ? Number(decimal) : Number.parseInt(hex ?? "", 16);
  const char = Number.isNaN(code) ? characters.get(name) : fromCode(code);
  return char === undefined ? null : { char, length: source.length };
}

/** Zero, halves of pairs and what is beyond Unicode are no characters. */
function fromCode(code: number): string {
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return String.fromCodePoint(isCharacter ? code : 0xfffd);
}

/** The text with its escapes and entities resolved, such as the address of a link. */
export function resolve(text: string): string {
  let resolved = "";
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    const entity = char === "&" ? readEntity(text, at) : null;
    const isEscape = char === "\\" && isPunctuation(text.charAt(at + 1));
    if (isEscape) at++;
    resolved += entity?.char ?? text.charAt(at);
    at += entity?.length ?? 1;
  }
  return resolved;
}

/** Characters that a backslash escapes. */
export const isPunctuation = (char: string): boolean => /[!-/:-@[-`{-~]/.test(char);
