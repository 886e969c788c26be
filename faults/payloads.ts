/** Texts that do harm wherever something takes them for more than text: each fits into a name of a hundred characters. */
import { hostileTexts } from "../test/support/hostile-texts.ts";
import { languagePayloads } from "./payloads-of-languages.ts";
import { textPayloads } from "./payloads-of-texts.ts";

/** Of what a field of any length takes: one to a hundred code points, not only white space. */
export const payloads: readonly string[] = [...new Set([...languagePayloads, ...textPayloads, ...hostileTexts])].filter(
  (text) => [...text].length <= 100 && text.trim() !== "" && text.isWellFormed() && !text.includes("\0"),
);
