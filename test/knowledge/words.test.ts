/** What the index takes for words: the same in passages and in questions, in any language. */
import { expect, test } from "bun:test";
import { guessLanguage } from "../../src/core/knowledge/words/language.ts";
import { noAnswerTextFor } from "../../src/core/knowledge/words/no-answer-texts.ts";
import { queryTermsOf } from "../../src/core/knowledge/words/query-terms.ts";
import { termsOfPassage } from "../../src/core/knowledge/words/terms.ts";

const termsOf = (text: string) => termsOfPassage({ title: null, heading: null, text }).counts;

/** Whether a question with these words alone finds a passage with those. */
function isShared(question: string, passage: string): boolean {
  const terms = termsOf(passage);
  return [...queryTermsOf(question, null).significant].some((term) => terms.has(term));
}

test.each([
  ["returned", "Returns are free."],
  ["shipping", "It ships on Monday."],
  ["delivery", "Deliveries are made daily."],
  ["Rücksendungen", "Die Rücksendung ist frei."],
  ["RUECKSENDUNG", "Die Rücksendung ist frei."],
  ["Strasse", "In der Straße"],
  ["bestellt", "Bestellungen nehmen wir an."],
  ["reembolsos", "El reembolso tarda cinco días."],
  ["remboursée", "Le remboursement est immédiat ; vous êtes remboursé."],
  ["rimborsi", "Il rimborso arriva in cinque giorni."],
  ["livraison", "Les livraisons sont gratuites."],
  ["gratuite", "Les retours sont gratuits."],
  ["Paket", "Pakete kommen in drei Tagen."],
  ["Gutschein", "Gutscheine gelten drei Jahre."],
  ["przesyłkę", "Przesyłka idzie trzy dni."],
  ["Łódź", "Sklep w Lodz jest otwarty."],
  ["smorrebrod", "Smørrebrød serveres."],
  ["ısparta", "ISPARTA"],
  ["İstanbul", "istanbul'da"],
  ["возврата", "Возврат товара бесплатный."],
  ["Σίσυφος", "ΣΊΣΥΦΟΣ"],
  ["כתובת", "כְּתוֹבֶת"],
  ["الشحن", "شَحن مجاني"],
  ["반품은", "반품 배송비"],
  ["返品", "返品送料はお客様のご負担です"],
  ["返品送料はいくら", "送料は無料です"],
  ["ﾊﾞｯｸﾞ", "革のバッグ"],
  ["退货", "七天内可以退货"],
  ["คืนสินค้า", "ลูกค้าสามารถคืนสินค้าได้ภายในสามสิบวัน"],
  ["XK-4711/B", "Kettle XK-4711/B, 1.7 l"],
  ["xk4711b", "Kettle XK-4711/B, 1.7 l"],
  ["XK 4711 B", "Kettle XK-4711/B, 1.7 l"],
  ["4711", "Kettle XK4711B, 1.7 l"],
  ["email", "by e-mail only"],
  ["1299", "It costs €1,299.00."],
  ["2.4.1", "Version v2.4.1 and 2.4.1"],
  ["12/05/2026", "from 12.05.2026 on"],
  ["help@shop.example", "Write to help@shop.example."],
])("%p is found in %p", (question, passage) => {
  expect(isShared(question, passage)).toBe(true);
});

test.each([
  ["ハッグ", "革のバッグ"],
  ["XK-9999/A", "Kettle XK-4711/B, 1.7 l"],
  ["XK-5/A", "within 5 days"],
  ["the", "The kettle"],
  ["क्यों", "कुछ और"],
])("%p is not found in %p", (question, passage) => {
  expect(isShared(question, passage)).toBe(false);
});

test.each([
  "Hello!",
  "thanks a lot",
  "Good morning, how are you?",
  "Danke schön",
  "what can you do?",
  "I have a question",
  "merci beaucoup",
  "¡Hola! Buenos días",
  "ありがとうございます",
  "谢谢",
  "สวัสดีครับ",
  "спасибо",
  "🙂👍",
  "",
])("%p is small talk", (message) => {
  expect(queryTermsOf(message, "How long is the guarantee?")).toMatchObject({
    isSmallTalk: true,
    significant: new Set(),
  });
});

test.each(["Is there breakfast in the morning?", "42?", "XK-4711", "Gibt es Parkplätze?", "返品できますか"])(
  "%p is a question",
  (message) => {
    expect(queryTermsOf(message, null).isSmallTalk).toBe(false);
  },
);

test("terms of the last message come first, each once, and there are at most 48", () => {
  const { terms, significant } = queryTermsOf("Is the kettle safe?", "How heavy is the kettle of steel?");
  expect(terms).toEqual(["kettle", "safe", "heavy", "steel"].map((word) => [...termsOf(word).keys()][0] as string));
  expect([...significant]).toEqual(terms.slice(0, 2));
  const long = Array.from({ length: 4000 }, (_, at) => `word${at}x`).join(" ");
  expect(queryTermsOf(long, long).terms).toHaveLength(48);
});

test("of a few words, the one that is a stop word in some language is looked for too", () => {
  expect(queryTermsOf("hat size", null).terms).toEqual(["size", "hat"]);
  expect(queryTermsOf("Was kostet der Versand nach Wien?", null).terms).not.toContain("der");
});

test("a compound of a question is taken apart, and its parts are no words of their own", () => {
  const { parts, significant, terms } = queryTermsOf("Wer trägt die Rücksendekosten?", null);
  const [head, tail] = [...termsOf("Rücksendung Kosten").keys()] as [string, string];
  expect(parts.get(head)).toContain(tail);
  expect(significant.has(head)).toBe(false);
  expect(terms).toContain(head);
});

test("a text of any kind makes bounded terms", () => {
  const texts = [
    "a".repeat(5000),
    "-".repeat(5000),
    "a-".repeat(5000),
    "1.".repeat(5000),
    "語".repeat(5000),
    "ـ".repeat(5000),
  ];
  for (const text of [...texts, "\ud842".repeat(5000), "𠮷a".repeat(2000), "\u0301".repeat(5000), "ﷺ".repeat(2000)]) {
    const terms = [...termsOf(text).keys(), ...queryTermsOf(text, text).terms];
    for (const term of terms) {
      expect(term.length).toBeWithin(1, 65);
      expect(term.isWellFormed() || !text.isWellFormed()).toBe(true);
    }
  }
});

test.each([
  ["Wie lange dauert die Lieferung?", "de", "nichts gefunden"],
  ["How long does the delivery take?", "en", "could not find"],
  ["Combien de temps prend la livraison ?", "fr", "pas trouvé"],
  ["¿Cuánto tarda el envío?", "es", "no he encontrado"],
  ["Ile trwa dostawa i czy jest darmowa?", "pl", "nie ma odpowiedzi"],
  ["Teslimat ne kadar sürer?", "tr", "bulamadım"],
  ["Скільки триває доставка і чи є вона безкоштовною?", "uk", "немає відповіді"],
  ["配達には何日かかりますか", "ja", "見つかりません"],
  ["送货需要多久？", "zh", "没有找到"],
  ["Does 東京 count as remote?", "en", "could not find"],
  ["XK-4711", null, "could not find"],
])("%p is of the language %p", (text, language, sentence) => {
  expect(guessLanguage(text)).toBe(language as ReturnType<typeof guessLanguage>);
  expect(noAnswerTextFor(text, null)).toContain(sentence);
});
