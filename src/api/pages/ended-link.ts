/** What a visitor reads whose link to the companion's page is too old, or not valid: in each language of the widget. */

/** That page is nowhere to sign in, which is what the widget would say. */
const sentences: Readonly<Record<string, string>> = {
  ar: "رابطك قديم جدًا أو غير صالح. افتح هذه الدردشة من موقعها مرة أخرى.",
  de: "Ihr Link ist zu alt oder nicht gültig. Öffnen Sie diesen Chat noch einmal von seiner Website aus.",
  en: "Your link is too old, or not valid. Open this chat from its website again.",
  es: "Tu enlace es demasiado antiguo o no es válido. Abre este chat de nuevo desde su sitio web.",
  fr: "Votre lien est trop ancien ou n’est pas valide. Ouvrez de nouveau ce chat depuis son site web.",
  he: "הקישור שלך ישן מדי או אינו תקף. יש לפתוח את הצ'אט שוב מהאתר שלו.",
  it: "Il tuo link è troppo vecchio o non è valido. Apri di nuovo questa chat dal suo sito web.",
  ja: "リンクの有効期限が切れているか、リンクが無効です。元のサイトからもう一度チャットを開いてください。",
  nl: "Je link is te oud of niet geldig. Open deze chat opnieuw vanaf de website.",
  pl: "Twój link jest zbyt stary lub nieprawidłowy. Otwórz ten czat ponownie z jego strony.",
  pt: "Seu link é antigo demais ou não é válido. Abra este chat novamente pelo site.",
  tr: "Bağlantınız çok eski ya da geçerli değil. Bu sohbeti web sitesinden yeniden açın.",
  uk: "Ваше посилання застаріле або недійсне. Відкрийте цей чат із його сайту ще раз.",
  zh: "您的链接已过期或无效。请从原网站重新打开此聊天。",
};

/** `lang`: a BCP 47 tag; English for those that the widget does not speak. */
export function endedLinkSentence(lang: string): string {
  return sentences[lang.toLowerCase().split("-")[0] ?? ""] ?? sentences["en"] ?? "";
}
