/** The table of docs/words.md as rules, and where a text breaks one. */
import type { PublicText } from "./public-texts.ts";

export interface WordRule {
  pattern: RegExp;
  write: string;
  fine: RegExp | null;
}

/** A space may be the end of a line, and in comments what begins the next. */
const between = String.raw`\s+(?:[*#] )?`;

/** Words of the list on their own: `$place` and `place-items` are names of something else. */
function toPattern(phrases: readonly string[]): RegExp {
  const forms = phrases.map((phrase) => phrase.replaceAll(" ", between).replaceAll("…", String.raw`\S+`));
  return new RegExp(String.raw`(?<![\w$.{\-]|class=")(?:${forms.join("|")})(?![\w=+\-])`, "gi");
}

function phrasesOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, phrase = ""]) => phrase);
}

export function readWordRules(page: string): WordRule[] {
  const table = page.slice(page.indexOf("| instead of | write | fine in |"));
  return table
    .slice(0, table.indexOf("\n\n"))
    .split("\n")
    .slice(2)
    .map((row) => {
      const [, instead = "", write = "", fine = ""] = row.split("|").map((cell) => cell.trim());
      const idioms = phrasesOf(fine);
      return { pattern: toPattern(phrasesOf(instead)), write, fine: idioms.length === 0 ? null : toPattern(idioms) };
    });
}

/** One line for each word that is not written, with what to write instead. */
export function findWords({ path, text, lineOf }: PublicText, rules: readonly WordRule[]): string[] {
  return rules.flatMap(({ pattern, write, fine }) => {
    const blank = (idiom: string) => idiom.replaceAll(/\S/g, "_");
    const checked = fine === null ? text : text.replaceAll(fine, blank);
    return [...checked.matchAll(pattern)].map(
      ({ 0: found, index }) => `${path}:${lineOf(index)}: “${found.replaceAll(/\s+/g, " ")}”; write: ${write}`,
    );
  });
}
