/** What people read of the program, found in its sources: texts in the code and the prose of its documents. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

export interface PublicText {
  path: string;
  text: string;
  /** Of what stands at an offset of the text, in the file. */
  lineOf(offset: number): number;
}

/** A regular expression begins where a value may; a division does not. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\n]|=>|\breturn)\s*$/;

/** Steps over a quoted text, and answers where it ends. */
function endOfQuoted(code: string, start: number): number {
  const quote = code[start];
  let at = start + 1;
  while (at < code.length && code[at] !== quote) at += code[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfRegex(code: string, start: number): number {
  let isInClass = false;
  for (let at = start + 1; at < code.length; at += code[at] === "\\" ? 2 : 1) {
    const char = code[at];
    if (char === "\n") return start + 1;
    if (char === "[") isInClass = true;
    else if (char === "]") isInClass = false;
    else if (char === "/" && !isInClass) return at + 1;
  }
  return start + 1;
}

/** The quoted and template texts of TypeScript, each with its offset; of a template, the parts between its values. */
export function textsOf(code: string): { at: number; text: string }[] {
  const found: { at: number; text: string }[] = [];
  /** For each template that is open: how many braces are open inside its value. */
  const values: number[] = [];
  let at = 0;
  const readTemplate = (from: number): number => {
    let end = from;
    while (end < code.length && code[end] !== "`" && !code.startsWith("${", end)) end += code[end] === "\\" ? 2 : 1;
    found.push({ at: from, text: code.slice(from, end) });
    if (code[end] === "`") return end + 1;
    values.push(0);
    return end + 2;
  };
  while (at < code.length) {
    const char = code[at];
    const open = values.at(-1);
    if (code.startsWith("//", at)) at = (code.indexOf("\n", at) + 1 || code.length + 1) - 1;
    else if (code.startsWith("/*", at)) at = code.indexOf("*/", at) + 2;
    else if (char === '"' || char === "'") {
      const end = endOfQuoted(code, at);
      found.push({ at: at + 1, text: code.slice(at + 1, end - 1) });
      at = end;
    } else if (char === "`") at = readTemplate(at + 1);
    else if (char === "/" && beforeRegex.test(code.slice(Math.max(0, at - 40), at))) at = endOfRegex(code, at);
    else if (char === "}" && open === 0) {
      values.pop();
      at = readTemplate(at + 1);
    } else {
      if (open !== undefined && (char === "{" || char === "}"))
        values[values.length - 1] = open + (char === "{" ? 1 : -1);
      at += 1;
    }
  }
  return found;
}

/** Markdown without code and without the targets of links, its lines kept. */
export function proseOf(page: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, " ");
  return page
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/(?<=\])\([^)\s]*\)/g, blank);
}

function toPublicText(path: string, file: string, text: string, at = 0): PublicText {
  return { path, text, lineOf: (offset) => file.slice(0, at + offset).split("\n").length };
}

/** The word list itself, notes on decisions, and what changes with each run are not promised. */
const pages = [
  "docs/*.md",
  "README.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "examples/**/*.{md,html,js,mjs,ts}",
  "deploy/**/{Caddyfile,Dockerfile,*.{md,yaml,json,service,conf,sh}}",
];

/** Lists of words of languages, and screens of the browser, which have a pass of their own. */
const otherWords = /^src\/(?:web\/|client\/generated\/|core\/knowledge\/words\/)/;

/** Statements of the databases, which have names of columns for words. */
const isStatement = (path: string, text: string) =>
  /^src\/engines\/(?:sqlite|postgres|store-shared)\//.test(path) &&
  /\b(?:SELECT|UPDATE|FROM|USING|ORDER BY)\b/.test(text);

/** What is documented for those who use the clients: comments that their types are published with. */
const documented = /^src\/(?:client|reply-reader)\//;

function* filesOf(...patterns: string[]): Generator<[string, string]> {
  for (const pattern of patterns) {
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })) {
      yield [path, readFileSync(join(root, path), "utf8")];
    }
  }
}

export function listPublicTexts(): PublicText[] {
  const texts: PublicText[] = [];
  for (const [path, page] of filesOf(...pages, ".env.example")) {
    if (path !== "docs/words.md") texts.push(toPublicText(path, page, proseOf(page)));
  }
  for (const [path, code] of filesOf("src/**/*.ts")) {
    if (otherWords.test(path)) continue;
    for (const { at, text } of textsOf(code))
      if (/\S\s|\s\S/.test(text) && !isStatement(path, text)) texts.push(toPublicText(path, code, text, at));
    if (!documented.test(path)) continue;
    for (const { 0: comment, index } of code.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
      texts.push(toPublicText(path, code, comment, index));
    }
  }
  return texts;
}

/** What people read on the screens of dashboard and widget: quoted sentences, and texts between tags. */
export function listScreenTexts(): PublicText[] {
  const texts: PublicText[] = [];
  for (const [path, file] of filesOf("src/web/{dashboard,widget,voice}/**/*.{ts,tsx}")) {
    // Of the same length, so that every text keeps its line.
    const code = file.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^\s*)\/\/.*$/gm, (note) => note.replaceAll(/[^\n]/g, " "));
    for (const { 0: text, index } of code.matchAll(
      /"(?:[^"\\\n]|\\.)*"|(?<=[>}])[^<>{}"`;=]*[a-z][^<>{}"`;=]*(?=[<{])/g,
    )) {
      if (/\S\s+\S/.test(text)) texts.push(toPublicText(path, file, text, index));
    }
  }
  return texts;
}
