/** What is answered where nothing was found and the companion's owner has written no sentence of their own. */
import { guessLanguage } from "./language.ts";
import type { Language } from "./stop-words.ts";

const texts: Readonly<Record<Language, string>> = {
  ar: "عذرًا، لم أجد إجابة عن ذلك في المعلومات المتاحة لدي.",
  cs: "Je mi líto, ale v informacích, které mám k dispozici, jsem na to odpověď nenašel.",
  da: "Det kunne jeg desværre ikke finde et svar på i de oplysninger, jeg har.",
  de: "Dazu habe ich in meinen Unterlagen leider nichts gefunden.",
  el: "Λυπάμαι, δεν βρήκα απάντηση σε αυτό στις πληροφορίες που έχω.",
  en: "I could not find an answer to that in the information that I have.",
  es: "Lo siento, no he encontrado una respuesta a eso en la información de la que dispongo.",
  fa: "متأسفانه در اطلاعاتی که دارم پاسخی برای این پرسش پیدا نکردم.",
  fi: "Valitettavasti en löytänyt tähän vastausta käytettävissäni olevista tiedoista.",
  fr: "Je n’ai malheureusement pas trouvé de réponse à cette question dans les informations dont je dispose.",
  he: "לצערי לא מצאתי תשובה לכך במידע שברשותי.",
  hi: "क्षमा करें, मेरे पास उपलब्ध जानकारी में इसका उत्तर नहीं मिला।",
  hu: "Sajnos erre nem találtam választ a rendelkezésemre álló információk között.",
  id: "Maaf, saya tidak menemukan jawabannya dalam informasi yang saya miliki.",
  it: "Purtroppo non ho trovato una risposta nelle informazioni di cui dispongo.",
  ja: "申し訳ありませんが、手元の情報からはお答えが見つかりませんでした。",
  ko: "죄송합니다. 제가 가진 정보에서 답을 찾지 못했습니다.",
  nl: "Daar heb ik helaas geen antwoord op gevonden in de informatie die ik heb.",
  no: "Det fant jeg dessverre ikke noe svar på i informasjonen jeg har.",
  pl: "Niestety w dostępnych mi informacjach nie ma odpowiedzi na to pytanie.",
  pt: "Infelizmente, não encontrei uma resposta para isso nas informações de que disponho.",
  ro: "Din păcate, nu am găsit un răspuns la această întrebare în informațiile pe care le am.",
  ru: "К сожалению, в доступной мне информации ответа на этот вопрос нет.",
  sv: "Det hittade jag tyvärr inget svar på i den information som jag har.",
  th: "ขออภัย ไม่พบคำตอบสำหรับคำถามนี้ในข้อมูลที่มีอยู่",
  tr: "Üzgünüm, elimdeki bilgilerde bu sorunun yanıtını bulamadım.",
  uk: "На жаль, у доступній мені інформації немає відповіді на це запитання.",
  vi: "Rất tiếc, tôi không tìm thấy câu trả lời cho câu hỏi này trong thông tin mà tôi có.",
  zh: "抱歉，我在现有资料中没有找到相关答案。",
};

/** In the language of the last message, else of the one before it, else in English. */
export function noAnswerTextFor(lastMessage: string, previousMessage: string | null): string {
  const language = guessLanguage(lastMessage) ?? (previousMessage === null ? null : guessLanguage(previousMessage));
  return texts[language ?? "en"];
}
