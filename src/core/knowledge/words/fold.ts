/** Makes one spelling of many: case, width, diacritics and the letters that people type instead. */

const ascii = /^[\0-\x7f]*$/;
/** Soft hyphens, joiners and the like stand inside words and are not seen. */
const unseen = /\u00ad|\u061c|[\u200c-\u200f]|\u2060|[\ufe0e\ufe0f]|\ufeff/g;

/** Of a whole text: width, ligatures and case. What it returns still has its diacritics. */
export function foldWidthAndCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").toLowerCase().replace(unseen, "");
}

/** Letters that do not come apart into a base and a mark. */
const replacements: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ŧ: "t",
  ς: "σ",
  ё: "е",
  ґ: "г",
  أ: "ا",
  إ: "ا",
  آ: "ا",
  ٱ: "ا",
  ى: "ي",
  ئ: "ي",
  ؤ: "و",
  ة: "ه",
  ک: "ك",
  ی: "ي",
};
const replaced = new RegExp(`[${Object.keys(replacements).join("")}]`, "g");
/** The marks of Latin and Greek, the points of Hebrew, the vowel signs and the filler of Arabic. */
const foldedMarks = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]/g;
/** Elsewhere marks are letters: the voiced kana, the vowels of India, Й beside И. */
const foldsMarks = /[\u00c0-\u03ff\u0590-\u06ff\u1e00-\u1fff]|[a-z][\u0300-\u036f]/;

/** Of a word that `foldWidthAndCase` has returned. */
export function foldWord(word: string): string {
  if (ascii.test(word)) return word;
  const text = word.replace(replaced, (letter) => replacements[letter] ?? letter);
  return foldsMarks.test(text) ? text.normalize("NFD").replace(foldedMarks, "") : text;
}
