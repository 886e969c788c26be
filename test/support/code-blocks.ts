/** Code in the pages of the documentation, for tests that run it. */

export interface CodeBlock {
  language: string;
  /** With its last line break. */
  code: string;
}

/** A page's fenced blocks, in order. */
export function allCodeBlocks(page: string): CodeBlock[] {
  const blocks = page.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms);
  return [...blocks].map(([, indent = "", language = "", code = ""]) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** The contents of those of one language. */
export function codeBlocks(page: string, language: string): string[] {
  return allCodeBlocks(page)
    .filter((block) => block.language === language)
    .map(({ code }) => code);
}
