/** Words of which greetings, thanks and small talk are made, beside stop words, in all languages together. */

/** Those that are about nothing in any message. */
export const greetings = `
  hello hi hey hiya howdy thanks thank thx ty cheers bye goodbye cya ok okay oke lol haha yeah yep yup nope hmm oh ah sorry
  hallo hej moin servus grüß grüezi danke dankeschön tschüss tschüs ciao grüße
  bonjour bonsoir salut coucou merci stp svp plaît hola gracias adiós buongiorno buonasera grazie arrivederci
  olá oi obrigado obrigada tchau hoi goedemorgen goedemiddag bedankt dankjewel doei alsjeblieft alstublieft
  hejsan tack takk farvel kiitos moi cześć czesc dzięki dziękuję ahoj děkuji díky nashledanou szia köszönöm bună mulțumesc
  merhaba selam günaydın teşekkürler teşekkür ederim sağol terima kasih
  привет здравствуйте здравствуй спасибо привіт вітаю дякую
  γεια ευχαριστώ καλημέρα καλησπέρα שלום תודה מרחבא مرحبا مرحباً أهلا اهلا السلام عليكم وعليكم شكرا شكراً سلام ممنون مرسی
  नमस्ते नमस्कार धन्यवाद शुक्रिया हैलो
  こんにちは こんにち こんばんは おはよう ございます ござい ありがとう どうも すみません すみ もしもし はじめまして よろしく お願い お願 願 願い いし さようなら
  你好 您好 谢谢 謝謝 多谢 再见 再見 嗨 哈喽 哈 喽 不客气
  안녕 안녕하세요 안녕하십니까 감사 감사합니다 고마워요 고맙습니다 네 반갑습니다
  สวัสดี หวัดดี ขอบคุณ ขอบใจ ลาก่อน โอเค`;

/** Those that are about something in another message: "good morning", and "breakfast in the morning". */
export const smallTalk = `
  good morning afternoon evening night day welcome great cool nice perfect fine awesome sure well doing today name bot human real robot
  question questions frage fragen pregunta domanda pergunta vraag pytanie soru вопрос питання 質問 问题
  chatbot there greetings lot lots much help helping helpful hilfe aide ayuda aiuto ajuda hulp pomoc yardım
  guten morgen mittag abend tag nacht dank schönen wiedersehen klar super toll prima alles gut schade entschuldigung liebe lieber freundlichen
  beaucoup bien revoir bonne journée soirée nuit accord parfait génial désolé enchanté
  buenos buenas días tardes noches luego vale bien perfecto genial encantado favor
  salve mille prego bene perfetto buona giornata serata notte scusa favore
  bom boa dia tarde noite valeu beleza perfeito tudo bem
  dag prima hartelijk god dag kväll tak hyvää päivää dzień dobry wieczór widzenia dobrý den čau jó napot ziua iyi akşamlar halo selamat pagi siang malam
  xin chào cảm ơn добрый день вечер утро пока свидания хорошо ок добрий ранок бувай гаразд σας αντίο היי רבה בוקר ערב טוב להתראות صباح مساء الخير جزيلا
  了解 わかりました わかり 元気 早上 早上好 晚上好 晚上 下午好 好的 辛苦`;
