/** Words of which greetings, thanks and small talk are made, beside stop words. */
export const greetings = `
  hello hi hey hiya howdy greetings good morning afternoon evening night day thanks thank thx ty cheers welcome bye goodbye cya ok okay oke k
  great cool nice perfect fine awesome sure sorry lol haha yeah yep yup nope hmm oh ah well doing today name bot human real robot chatbot
  hallo hej moin servus grüß grüezi guten morgen mittag abend tag nacht danke dankeschön vielen dank schönen tschüss tschüs ciao wiedersehen auf klar super toll prima
  alles okay gut schade entschuldigung liebe lieber grüße freundlichen
  bonjour bonsoir salut coucou merci beaucoup bien revoir bonne journée soirée nuit accord parfait génial désolé enchanté stp svp plaît plait
  hola buenos buenas días dias tardes noches gracias muchas adiós adios luego vale bien perfecto genial encantado favor
  buongiorno buonasera salve grazie mille prego arrivederci bene perfetto buona giornata serata notte scusa favore
  olá ola oi bom boa dia tarde noite obrigado obrigada tchau valeu beleza perfeito tudo bem
  hoi goedemorgen goedemiddag goedenavond dag bedankt dank dankjewel doei prima hartelijk alsjeblieft alstublieft
  hejsan tack god dag kväll tak farvel takk hei ha det kiitos moi terve hyvää päivää
  cześć czesc dzień dobry dobry wieczór wieczor dzięki dziekuje dziękuję dziekuję do widzenia pa super
  ahoj dobrý den děkuji díky nashledanou čau szia köszönöm jó napot bună ziua mulțumesc merhaba selam günaydın iyi akşamlar teşekkürler teşekkür ederim sağol
  halo selamat pagi siang malam terima kasih xin chào cảm ơn
  привет здравствуйте здравствуй добрый день вечер утро спасибо пока свидания хорошо ок привіт вітаю добрий ранок дякую бувай гаразд
  γεια σου σας καλημέρα καλησπέρα ευχαριστώ αντίο שלום היי תודה רבה בוקר ערב טוב להתראות
  مرحبا مرحباً أهلا اهلا السلام عليكم وعليكم صباح مساء الخير شكرا شكراً جزيلا سلام ممنون مرسی
  नमस्ते नमस्कार धन्यवाद शुक्रिया हैलो
  こんにちは こんにち こんばんは こんばん おはよう おはよ ございます ござい ありがとう ありがと どうも すみません すみ もしもし 了解 はじめまして よろしく お願い お願 願 願い いし さようなら わかりました わかり 元気
  你好 您好 谢谢 謝謝 多谢 早上 早上好 晚上好 晚上 下午好 再见 再見 好的 嗨 哈喽 哈 喽 不客气 辛苦
  안녕 안녕하세요 안녕하십니까 감사 감사합니다 고마워요 고맙습니다 네 반갑습니다
  สวัสดี หวัดดี ขอบคุณ ขอบใจ ลาก่อน โอเค`;
