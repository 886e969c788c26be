/** What is said while people are waited for, or have a conversation, where the companion's owner has written no sentence. */

import type { HandoffSettings } from "../../domain/handoff.ts";
import { guessLanguage } from "../knowledge/words/language.ts";
import type { Language } from "../knowledge/words/stop-words.ts";

export type HandoffText = "waiting" | "person" | "unavailable";

/** `waiting`, `person`, `unavailable`. */
const texts: Readonly<Record<Language, readonly [string, string, string]>> = {
  ar: [
    "لقد طلبت من أحد أعضاء الفريق الانضمام إلى المحادثة. يُرجى الانتظار قليلاً.",
    "وصلت رسالتك إلى أحد أعضاء الفريق، وسيرد عليك هنا.",
    "عذرًا، لا يوجد أحد من الفريق متاح الآن.",
  ],
  cs: [
    "Volám někoho z týmu, aby se připojil. Okamžik strpení, prosím.",
    "Vaše zpráva byla předána členovi týmu, který vám odpoví zde.",
    "Je mi líto, z týmu teď není nikdo k dispozici.",
  ],
  da: [
    "Jeg har bedt en medarbejder om at komme til. Vent et øjeblik.",
    "Din besked er givet videre til en medarbejder, som svarer her.",
    "Der er desværre ingen medarbejdere ledige lige nu.",
  ],
  de: [
    "Ich habe jemanden aus dem Team gerufen. Einen Moment bitte.",
    "Ihre Nachricht liegt jemandem aus dem Team vor, die Antwort kommt hier.",
    "Im Moment ist leider niemand aus dem Team erreichbar.",
  ],
  el: [
    "Ζήτησα από κάποιον της ομάδας να συνδεθεί. Περιμένετε λίγο, παρακαλώ.",
    "Το μήνυμά σας δόθηκε σε μέλος της ομάδας, που θα απαντήσει εδώ.",
    "Λυπάμαι, αυτή τη στιγμή δεν είναι διαθέσιμος κανείς από την ομάδα.",
  ],
  en: [
    "I have asked someone from the team to join. One moment, please.",
    "Your message has been passed to someone from the team, who will reply here.",
    "I am sorry, no one from the team is available at the moment.",
  ],
  es: [
    "He pedido a alguien del equipo que se incorpore. Un momento, por favor.",
    "Tu mensaje ha llegado a alguien del equipo, que responderá aquí.",
    "Lo siento, ahora mismo no hay nadie del equipo disponible.",
  ],
  fa: [
    "از یکی از همکاران خواسته‌ام به گفتگو بپیوندد. لطفاً کمی صبر کنید.",
    "پیام شما به یکی از همکاران رسید و پاسخ آن همین‌جا داده می‌شود.",
    "متأسفانه در حال حاضر هیچ‌یک از همکاران در دسترس نیست.",
  ],
  fi: [
    "Pyysin jonkun tiimistä mukaan. Hetkinen, olkaa hyvä.",
    "Viestinne on välitetty tiimimme jäsenelle, joka vastaa tässä.",
    "Valitettavasti kukaan tiimistä ei ole juuri nyt tavoitettavissa.",
  ],
  fr: [
    "J’ai demandé à quelqu’un de l’équipe de nous rejoindre. Un instant, s’il vous plaît.",
    "Votre message a été transmis à quelqu’un de l’équipe, qui répondra ici.",
    "Désolé, personne de l’équipe n’est disponible pour le moment.",
  ],
  he: [
    "ביקשתי ממישהו מהצוות להצטרף. רק רגע, בבקשה.",
    "ההודעה שלך הועברה לאיש צוות, והתשובה תגיע כאן.",
    "מצטערים, אין כרגע אף אחד מהצוות שזמין.",
  ],
  hi: [
    "मैंने टीम के किसी सदस्य को बुलाया है। कृपया थोड़ी देर प्रतीक्षा करें।",
    "आपका संदेश टीम के एक सदस्य तक पहुँचा दिया गया है, उत्तर यहीं मिलेगा।",
    "क्षमा करें, अभी टीम का कोई सदस्य उपलब्ध नहीं है।",
  ],
  hu: [
    "Szóltam egy munkatársnak, hogy csatlakozzon. Egy pillanat türelmet kérek.",
    "Üzenetét továbbítottuk egy munkatársnak, aki itt fog válaszolni.",
    "Sajnos jelenleg egyetlen munkatárs sem érhető el.",
  ],
  id: [
    "Saya sudah meminta seseorang dari tim untuk bergabung. Mohon tunggu sebentar.",
    "Pesan Anda sudah diteruskan kepada anggota tim, yang akan membalas di sini.",
    "Maaf, saat ini tidak ada anggota tim yang tersedia.",
  ],
  it: [
    "Ho chiesto a qualcuno del team di unirsi. Un momento, per favore.",
    "Il tuo messaggio è arrivato a qualcuno del team, che risponderà qui.",
    "Mi dispiace, al momento non c’è nessuno del team disponibile.",
  ],
  ja: [
    "担当者を呼び出しています。少々お待ちください。",
    "メッセージを担当者に伝えました。返信はこちらに届きます。",
    "申し訳ありませんが、ただいま対応できる担当者がおりません。",
  ],
  ko: [
    "담당자에게 연결을 요청했습니다. 잠시만 기다려 주세요.",
    "메시지를 담당자에게 전달했습니다. 답변은 여기로 드립니다.",
    "죄송합니다. 지금은 응대할 수 있는 담당자가 없습니다.",
  ],
  nl: [
    "Ik heb iemand van het team gevraagd mee te kijken. Een ogenblik alstublieft.",
    "Uw bericht is doorgegeven aan iemand van het team, die hier antwoordt.",
    "Er is op dit moment helaas niemand van het team beschikbaar.",
  ],
  no: [
    "Jeg har bedt en medarbeider om å bli med. Et øyeblikk.",
    "Meldingen din er gitt videre til en medarbeider, som svarer her.",
    "Beklager, ingen medarbeidere er ledige akkurat nå.",
  ],
  pl: [
    "Proszę kogoś z zespołu o dołączenie do rozmowy. Chwileczkę cierpliwości.",
    "Wiadomość trafiła do osoby z zespołu, która odpowie tutaj.",
    "Niestety w tej chwili nikt z zespołu nie jest dostępny.",
  ],
  pt: [
    "Pedi a alguém da equipe que entre na conversa. Um momento, por favor.",
    "A sua mensagem foi entregue a alguém da equipe, que responderá aqui.",
    "Lamento, neste momento não há ninguém da equipe disponível.",
  ],
  ro: [
    "Am rugat pe cineva din echipă să intre în conversație. Un moment, vă rog.",
    "Mesajul dumneavoastră a ajuns la cineva din echipă, care va răspunde aici.",
    "Ne pare rău, momentan nu este disponibil nimeni din echipă.",
  ],
  ru: [
    "Приглашаю сотрудника присоединиться к разговору. Подождите немного, пожалуйста.",
    "Ваше сообщение передано сотруднику, ответ придёт сюда.",
    "К сожалению, сейчас никто из сотрудников не доступен.",
  ],
  sv: [
    "Jag har bett en medarbetare att ansluta. Ett ögonblick.",
    "Ditt meddelande har lämnats till en medarbetare, som svarar här.",
    "Tyvärr är ingen medarbetare tillgänglig just nu.",
  ],
  th: [
    "ได้เรียกเจ้าหน้าที่ให้เข้าร่วมการสนทนาแล้ว กรุณารอสักครู่",
    "ส่งข้อความของคุณให้เจ้าหน้าที่แล้ว เจ้าหน้าที่จะตอบกลับที่นี่",
    "ขออภัย ขณะนี้ไม่มีเจ้าหน้าที่ว่าง",
  ],
  tr: [
    "Ekipten birinin katılmasını istedim. Bir dakika lütfen.",
    "Mesajınız ekipten birine iletildi, yanıt buraya gelecek.",
    "Üzgünüm, şu anda ekipten kimse müsait değil.",
  ],
  uk: [
    "Запрошую співробітника приєднатися до розмови. Зачекайте, будь ласка.",
    "Ваше повідомлення передано співробітнику, відповідь надійде сюди.",
    "На жаль, зараз ніхто зі співробітників не доступний.",
  ],
  vi: [
    "Tôi đã mời một nhân viên tham gia. Vui lòng chờ trong giây lát.",
    "Tin nhắn của bạn đã được chuyển cho nhân viên, câu trả lời sẽ có ở đây.",
    "Rất tiếc, hiện không có nhân viên nào sẵn sàng hỗ trợ.",
  ],
  zh: [
    "我已请工作人员加入对话，请稍候。",
    "您的消息已转交给工作人员，回复会显示在这里。",
    "抱歉，目前没有工作人员在线。",
  ],
};

/** The owner's sentence, or one in the language of the visitor's message, else in English. */
export function handoffTextOf(settings: HandoffSettings, kind: HandoffText, lastMessage: string): string {
  const [waiting, person, unavailable] = texts[guessLanguage(lastMessage) ?? "en"];
  const usual = { waiting, person, unavailable };
  const own = { waiting: settings.waitingText, person: settings.personText, unavailable: settings.unavailableText };
  return own[kind] ?? usual[kind];
}
