/** A reply as it is read aloud: in plain words and by whole sentences, with what is not meant to be heard only named. */
import { h } from "./dom.ts";
import { renderInline } from "./markdown-inline.ts";
import type { Words } from "./markdown-leaves.ts";
import {
  endsFence,
  isRule,
  isTableRule,
  readBox,
  readFence,
  readHeading,
  readItem,
  skipSpace,
} from "./markdown-lines.ts";

/** The end of a sentence or a line, in the scripts that have another full stop, too. */
const sentenceEnd = /[.!?…؟]["'”’»)\]*_]{0,4}\s|[。！？\n]/g;
const maxEnd = 6;
/** What is left of a mark that began sentences ago. */
const strayMark = /(\S)(?:\*{1,3}|_{1,2}|~~|`{1,9})(?=\W|$)/g;
const maxMarks = 6;

export interface Reader {
  /** The words that have come since the last time, as far as their sentences are whole. The text only grows. */
  read(text: string, isEnded: boolean): string;
}

export function createReader(words: Words): Reader {
  let readTo = 0;
  /** Up to here there is no end of a sentence but those that were read out. */
  let seen = 0;
  let fence: string | null = null;
  let isTable = false;

  function readLineStart(piece: string): string {
    if (fence) {
      // Inside of a quote its marks come before.
      let at = 0;
      for (let depth = 0; depth < maxMarks && piece.charAt(skipSpace(piece, at)) === ">"; depth++) {
        at = skipSpace(piece, at) + 1;
      }
      if (endsFence(piece, skipSpace(piece, at), fence)) fence = null;
      return "";
    }
    const { at, number } = skipMarks(piece);
    fence = readFence(piece, at)?.mark ?? null;
    if (fence) return words.code;
    const isRow = piece.charAt(at) === "|" || isTableRule(piece, at) || (isTable && piece.includes("|", at));
    if (isRow && isTable) return "";
    isTable = isRow;
    if (isTable) return words.table;
    if (isRule(piece, at)) return "";
    const box = readBox(piece, at);
    const rest = box ? piece.slice(at + "[ ]".length) : (readHeading(piece, at)?.text ?? piece.slice(at));
    return toWords(number + (box ?? "") + rest);
  }

  return {
    read(text, isEnded) {
      const said: string[] = [];
      sentenceEnd.lastIndex = Math.max(readTo, seen - maxEnd);
      while (readTo < text.length) {
        const isFound = sentenceEnd.test(text);
        if (!isFound && !isEnded) break;
        const end = isFound ? sentenceEnd.lastIndex : text.length;
        const piece = text.slice(readTo, end);
        const isLineStart = readTo === 0 || text.charAt(readTo - 1) === "\n";
        // The number of an item ends no sentence.
        if (isFound && isLineStart && piece.length < 16 && /^\s*\d+\.[^\S\n]$/.test(piece)) continue;
        readTo = end;
        const isHidden = !isLineStart && (fence !== null || isTable);
        const spoken = isHidden ? "" : isLineStart ? readLineStart(piece.trimEnd()) : toWords(piece);
        if (spoken) said.push(spoken);
      }
      seen = text.length;
      return said.join(" ");
    },
  };
}

/** Where the words of a line begin, behind the marks of quotes and lists; a number is read out. */
function skipMarks(line: string): { at: number; number: string } {
  let at = skipSpace(line, 0);
  let number = "";
  for (let depth = 0; depth < maxMarks; depth++) {
    const item = isRule(line, at) ? null : readItem(line, at);
    if (!item && line.charAt(at) !== ">") break;
    if (item && item.start !== null) number = `${item.start}. `;
    at = skipSpace(line, item?.end ?? at + 1);
  }
  return { at, number };
}

function toWords(source: string): string {
  const element = renderInline(h("p"), source.trim(), true);
  for (const end of element.querySelectorAll("br")) end.replaceWith(" ");
  return element.textContent.replace(strayMark, "$1").trim();
}
