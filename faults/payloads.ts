/** Texts that do harm wherever they are treated as more than text. Each fits into a name of a hundred characters. */
import { hostileTexts } from "../test/support/hostile-texts.ts";
import { languagePayloads } from "./payloads-of-languages.ts";
import { textPayloads } from "./payloads-of-texts.ts";

/** For fields of any length: one to a hundred code points, not only white space. */
export const payloads: readonly string[] = [...new Set([...languagePayloads, ...textPayloads, ...hostileTexts])].filter(
  (text) => [...text].length <= 100 && text.trim() !== "" && text.isWellFormed() && !text.includes("\0"),
);
