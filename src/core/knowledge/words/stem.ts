/**
 * Cuts inflection off a folded word, by the endings of all languages of its script together.
 *
 * A stemmer for each language would cut better where the language is known. But a question of three words does not reveal
 * its language, and a passage of product names does not either, and a word that was cut differently on the two sides is
 * not found. Here the same word always becomes the same term. What is cut too much is cut so on both sides.
 */

/** `ending:shortest rest`, of all languages together. */
const latin = compile(
  // Plural, case and gender of the Germanic and the Romance languages.
  "s:3 es:4 e:4 n:4 en:4 er:4 em:4 ern:4 a:4 o:4 i:4 u:4 y:4 as:4 os:4 x:5 r:6",
  // Verbs: English, German and Dutch, the Romance languages.
  "ing:3 ings:3 ed:3 t:5 et:4 te:4 ten:4 test:5 ar:4 ir:4 are:4 ere:4 ire:4 ado:4 ada:4 ido:4 ida:4 ados:4 adas:4 ato:4 ata:4 ati:4 ant:4 ando:4 endo:4 iendo:4 ez:4 ons:5",
  // Nouns that are made from verbs, and adverbs.
  "ung:4 ungen:4 ion:5 ions:5 ation:4 ations:4 cion:4 ciones:4 zione:4 zioni:4 cao:4 coes:4 ment:4 ments:4 mente:4 ly:4 lich:4 liche:4 lichen:4 licher:4 heit:4 keit:4",
  // Polish, Czech and Turkish.
  "ow:4 om:4 ach:4 ami:4 ego:4 emu:4 ych:4 ymi:4 ej:4 ie:4 iem:4 lar:4 ler:4 lari:4 leri:4 larin:4 lerin:4",
);
const cyrillic = compile(
  "а:3 е:3 и:3 і:3 о:3 у:3 ы:3 ь:3 ю:3 я:3 й:3 ї:3 є:3 ам:3 ах:3 ям:3 ях:3 ами:3 ями:3 ов:3 ев:3 ів:3 їв:3 ей:3 ом:3 ем:3 єм:3 ою:3 ею:3 ой:3 ый:3 ий:3 ая:3 яя:3 ое:3 ее:3 ие:3 ые:3 их:3 ых:3 им:3 ым:3 ого:3 его:3 ому:3 ему:3 ть:3 ти:3 тся:3 ться:3 ся:3 ет:3 ит:3 ют:3 ут:3 ат:3 ят:3 ла:3 ли:3 ло:3 ние:4 ния:4 нии:4 ний:4 ння:4",
);
const greek = compile(
  "α:3 ε:3 η:3 ι:3 ο:3 υ:3 ω:3 ς:3 σ:3 ν:3 ες:3 εσ:3 οσ:3 ασ:3 ησ:3 ουσ:3 ων:3 ου:3 οι:3 ει:3 ματα:3 ματοσ:3",
);
const hebrew = compile("ים:2 ות:2 ה:3 ת:3");
const arabic = compile("ات:3 ون:3 ين:3 ان:3 ها:3 هم:3 كم:3 نا:3 ه:3 ي:3 ك:3");
const devanagari = compile("ों:2 ें:2 े:2 ा:2 ी:2 ो:2 ि:2 ियों:2 ियां:2 ने:3 ना:3 ता:3 ते:3 ती:3");
const hangul = compile(
  "은:2 는:2 이:2 가:2 을:2 를:2 에:2 의:2 로:2 와:2 과:2 도:2 만:2 에서:2 에게:2 으로:2 까지:2 부터:2 에는:2 이나:2 하고:2 하는:2 하면:2 하려면:2 합니다:2 할:2 한:2 해요:2 했어요:2 인가요:2 되나요:2 입니다:2 있나요:2",
);

/** Endings by their last letter, the longest first. */
type Endings = ReadonlyMap<number, readonly { readonly text: string; readonly rest: number }[]>;

function compile(...lists: readonly string[]): Endings {
  const endings = new Map<number, { text: string; rest: number }[]>();
  for (const item of lists.join(" ").split(" ")) {
    const [text = "", rest] = item.split(":");
    const last = text.charCodeAt(text.length - 1);
    endings.set(last, [...(endings.get(last) ?? []), { text, rest: Number(rest) }]);
  }
  for (const list of endings.values()) list.sort((a, b) => b.text.length - a.text.length);
  return endings;
}

export function stem(word: string): string {
  const first = word.charCodeAt(0);
  if (first < 0x250) return stemLatin(word);
  if (first < 0x370) return word;
  if (first < 0x400) return cut(word, greek);
  if (first < 0x530) return cut(word, cyrillic);
  if (first < 0x590) return word;
  if (first < 0x600) return cut(word, hebrew);
  if (first < 0x700) return cut(withoutArticle(word), arabic);
  if (first >= 0x900 && first < 0x980) return cut(word, devanagari);
  if (first >= 0xac00 && first < 0xd7b0) return cut(word, hangul, 1);
  return word;
}

function stemLatin(word: string): string {
  if (word.length < 4) return word;
  const rest = cut(word, latin);
  const length = rest.length;
  // "shipp" of "shipping", and so "bill" of "bill" too.
  if (length > 3 && rest.charCodeAt(length - 1) === rest.charCodeAt(length - 2)) return rest.slice(0, -1);
  return rest;
}

/**
 * Endings stand upon one another: "lieferungen", "deliveries". They go until none is left: after a number of cuts, the plural
 * would have an ending more than the singular.
 */
function cut(word: string, endings: Endings, cuts = word.length): string {
  let end = word.length;
  for (let times = 0; times < cuts; times++) {
    const length = endingBefore(word, end, endings);
    if (length === 0) break;
    end -= length;
  }
  return word.slice(0, end);
}

function endingBefore(word: string, end: number, endings: Endings): number {
  const list = endings.get(word.charCodeAt(end - 1));
  if (list === undefined) return 0;
  for (const { text, rest } of list) {
    if (end - text.length >= rest && word.endsWith(text, end) && mayCut(word, end, text)) return text.length;
  }
  return 0;
}

function mayCut(word: string, end: number, ending: string): boolean {
  const before = word.charCodeAt(end - ending.length - 1);
  // "address", "speed": no ending.
  if (ending === "s") return before !== 0x73;
  if (ending === "ed") return before !== 0x65;
  // "string" has no vowel before its ending.
  if (ending === "ing") return /[aeiouy]/.test(word.slice(0, end - 3));
  // After a vowel it is part of the word: "format", and so "formate".
  if (ending === "t" || ending === "te" || ending === "ten" || ending === "r") return !isVowel(before);
  return true;
}

function isVowel(unit: number): boolean {
  return unit === 0x61 || unit === 0x65 || unit === 0x69 || unit === 0x6f || unit === 0x75;
}

const articles = ["وال", "بال", "كال", "فال", "لل", "ال"];

function withoutArticle(word: string): string {
  const article = articles.find((each) => word.startsWith(each) && word.length - each.length >= 3);
  return article === undefined ? word : word.slice(article.length);
}
