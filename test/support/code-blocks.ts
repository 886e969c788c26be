/** Code in the pages of the documentation, for tests that run it. */

/** The contents of a page's fenced blocks of one language, in order, each with its last line break. */
export function codeBlocks(page: string, language: string): string[] {
  const blocks = page.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms);
  return [...blocks]
    .filter(([, , name]) => name === language)
    .map(([, indent = "", , code = ""]) => code.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}
