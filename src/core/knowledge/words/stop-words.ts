/** The stop words of each language, as the index writes them, and the words of greetings. */
import { foldWidthAndCase, foldWord } from "./fold.ts";

/** Words without meaning for the subject of a text, in the languages of western and northern Europe. */
const westernStopWords = {
  en: `a about after again all also am an and any anybody anyone anything are aren as at be because been before being but by can cannot
    could couldn d did didn do does doesn doing don done each ever every for from get gets getting go goes going gone got had has hasn have haven
    having he her here hers him his how i if in into is isn it its just let ll m many may maybe me might mine more most much must my
    need no nor not now of off on once one only or other our ours out over own please possible re s same shall she should shouldn so some
    somebody someone something still such t take than that the their them then there these they thing things this those through to too
    under until up us ve very want wants wanted was wasn way we were what when where which while who whom whose why will wish with without won
    would wouldn yes yet you your yours tell know like explain able good best better new already else both between`,
  de: `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bekomme bekommen bin bis bist bitte brauche
    da dabei dafür daher damit danach dann daran darauf darf darfst das dass davon dazu dein deine dem den denn der des dessen die dies
    diese diesem diesen dieser dieses doch dort du durch dürfen ein eine einem einen einer eines einfach er es etwas euch euer eure
    für gab geben gegen geht gehen genau gerne gibt habe haben hat hatte hätte hätten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem
    ihren ihrer im immer in ins irgendwie ist ja jede jedem jeden jeder jedes jetzt kann kannst kein keine keinen können könnte könnten
    könnt lassen machen mache macht man mal mehr mein meine meinem meinen meiner meines mich mir mit möchte möchten möglich muss
    müssen nach nein nicht nichts noch nun nur ob oder ohne schon sehr sei sein seine seinem seinen seiner selbst sich sie sind so
    sobald sollte sollen soll solche sonst sowie über um und uns unser unsere unter viel viele vom von vor wann war waren warum was
    weg weil welche welchem welchen welcher welches wenn wer werde werden weiß wie wieder will wir wird wirklich wo woher wohin wollen
    worden wurde würde würden zu zum zur zwar zwischen eigentlich irgendein gilt wieviel`,
  fr: `à ai aie ainsi alors après as au aucun aucune aura aussi autre autres aux avant avec avez avoir avons c car ce ceci cela celle
    celui ces cet cette ceux chaque chez ci combien comme comment d dans de depuis des dois doit donc dont du elle elles en encore entre es est et
    étaient était être eu eux fait faire faites faut fois font ici il ils j je jusqu l la là le les leur leurs lors lui m ma mais me même mes
    moi moins mon n ne ni non nos notre nous on ont ou où oui par parce pas peu peut peux peuvent plus pour pourquoi pourrais pouvez pouvoir
    puis puisque qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous suis sur t ta tant te tes toi ton tous tout
    toute toutes très trop tu un une va vais vers veux veut voudrais vos votre vous y ça êtes possible quelque savoir`,
  es: `a al algo alguien algún alguna algunos ante antes aquí así aun aunque cada como cómo con cual cuál cuáles cuando cuándo cuánto
    cuanta cuántos cuesta de debe debo del desde donde dónde dos e el él ella ellas ellos en entre era es esa ese eso esos esta está estaba
    están estar estas este esto estos estoy fue ha haber había hace hacer hago han hasta hay he la las le les lo los más me mi mis mí mucho muy
    nada ni no nos nosotros nuestra nuestro o os otra otro para pero por porque por qué podría poder pueden puede puedo pues que qué querer quiere
    quiero quién quien se sea ser si sí sido sin sobre solo son soy su sus también tan tanto te tener tengo tiene tienen toda todas todo todos
    tu tú tus un una uno unos usted ustedes va vez voy y ya yo posible saber`,
  it: `a ad agli ai al alla alle allo anche ancora avere aveva avete c che chi ci cioè come con cosa così cui d da dagli dai dal dalla
    dalle dei del della delle dello deve devo di dopo dove due e è ed era essere fa fare fatto fino fra già gli ha hai hanno ho i il in io
    l la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle no noi non nostra nostro o ogni oppure per perché
    però più poco posso possono potete può qual quale quali quando quanto quanti quella quelle quelli quello quest questa queste questi questo qui
    sarà se sei si sì sia siamo siete solo sono sopra sta stato su sua sue sugli sul sulla suo suoi tra tu tua tue tuo tutte tutti tutto un una
    uno vi voglio vorrei voi vostra vostro possibile sapere`,
  pt: `a à ainda alguém algum alguma ao aos após aquele aquela as até cada com como da das de dela dele deles depois deve devo do dos dois e é ela
    elas ele eles em entre era essa esse esses esta está estão estar estas este estes estou eu faz fazer foi for fosse há isso isto já lhe
    lo mais mas me mesmo meu meus minha minhas muito muita na nas não nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos
    pode podem posso por porque por quê preciso qual quais quando quanto quantos que quem quer quero sabe se seja sem ser será seu seus só sobre sou sua
    suas também tem têm tenho ter teu toda todas todo todos tu tua um uma umas você vocês vai vou possível saber gostaria`,
  nl: `aan al alle alles als altijd ander andere ben bij daar dan dat de der deze die dit doen doe door dus een eens en er ge geen
    goed haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij jou jouw jullie kan kunnen kunt krijg krijgen maar mag me
    meer men met mij mijn moet moeten mogelijk na naar nee niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen
    tot u uit uw van veel voor waar waarom wanneer want waren was wat we weer welke werd wie wij wil willen wilt worden wordt wou zal ze zelf zich zij
    zijn zo zonder zou zouden graag`,
  sv: `alla allt att av bara bli blir de dem den denna det detta dig din ditt du där efter eller en ett finns för från få får ha hade han har
    hur här hon i icke in inte ja jag kan kunna man med mellan men mig min mitt mycket måste ni nog nu när någon något och också om oss på sedan sig sin
    sitt ska skall skulle som så till under upp ut utan vad var vara varför vem vi vid vilja vilken vill vilka är åt över`,
  da: `af alle alt at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en end er et for fra får gå
    ham han hans har havde have hende her hos hun hvad hvem hver hvilken hvis hvor hvordan hvorfor hvornår i ikke ind jeg jer jo kan kunne
    man mange med meget men mig min mine mit mod må ned noget nogle når og også om op os over på sig sin skal skulle som så til ud under var vi vil
    ville vor være været`,
  no: `alle at av bare ble bli blir da de dem den denne der dere det dette deg din ditt du eller en enn er et etter for fra få får ha
    hadde han har henne her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke inn jeg kan kunne man med meg mellom men min mitt mye må noe
    noen nå når og også om opp oss på seg sin skal skulle som så til ut var vi vil ville være vært`,
  fi: `ei eikä ettei että he hän ja jo jos joka jotka kaikki kanssa kuin kuinka kun me mihin mikä miksi milloin minkä minun minä missä mistä
    miten mitä mukaan mutta myös ne niin nyt olla olen on onko oli ovat paljonko saada saanko se sen siitä sinä siis sitä te tai tämä tätä vain
    vai voi voiko voin voinko voitte vielä haluan`,
};

/** Words without meaning for the subject of a text, in the languages of eastern Europe and of Asia. */
const easternStopWords = {
  pl: `a aby ale am bardzo bez będzie będą by być był była było były bym chcę chce chciałbym chciałabym ci co coś czego czy czyli czym dla do dlaczego
    gdy gdzie go i ich ile im ja jak jaka jaki jakie jakiś je jego jej jest jestem jeśli jeżeli już kiedy kto która które którego
    której który których ma macie mam mamy mi mnie mogę może można możecie mój moja moje mu my na nad nam nas nasz nie nich nic niż no o od on ona one oni
    oraz pan pani po pod ponieważ potrzebuję proszę przed przez przy się są skąd swoje ta tak także tam te tego tej ten teraz to trzeba tu ty tych tylko
    tym u w was wasz we więc wszystko z za zawsze ze że są jaką`,
  cs: `a aby ale ani ano asi bez bude budou by být byl byla bylo byly co což či do ho i jak jaké jaký jako je jeho jej její jejich jen jestli
    jsem jsme jsou jste já k kam kde kdo kdy když ke která které který kolik ma mají máte mám mě mezi mi moje může mohu můžete můžu můj my na nad nám nás
    náš ne nebo nejsou není nic o od on ona oni pak po pod podle pro proč proto před při s se si tak také tam tedy ten tento to toho tom tu ty u už v
    vám vás ve více však z za ze že chci potřebuji prosím`,
  tr: `acaba ama artık aslında ben benim bana beni bile bir biraz biz bizim bu buna bunu bunun burada çok çünkü da daha de değil diye en
    gibi hangi hatta hem hep her hiç için ile ise istiyorum kaç kadar ki kim kimin lazım lütfen mı mi mu mü nasıl ne neden nedir nerede nereye
    niçin niye o olan olarak oldu olur on ona onlar onu onun sadece sen siz sizin şey şu tüm var ve veya ya yani yok yapabilir
    miyim mıyım misiniz mısınız musunuz eder ediyor etmek`,
  ro: `a acest această aceste acum ai al ale am ar are as astfel au avea aș ca cand când care ce cea cel cele cine cu cum cât cât da daca dacă
    de deci decât despre din doar după e ea ei el ele era este eu fi fie fost iar il în înainte îmi își la le li lor lui mai mea mei meu mi mie
    ne ni nici nimic noi noastră nostru nu o ori pe pentru pot poate puteți prin să sau se si și sunt sunteți ta te toate tot tu un una unde
    unei unui va vă vreau voi`,
  hu: `a az abban ahhoz aki ami amely azt azért ban be csak de e ebben egy egyik el én és ez ezt ezek fel ha hogy hogyan hol honnan hova igen
    is ki kell lehet lehetséges le lesz már meg mi mikor milyen mennyi mert mit most nagyon ne nekem nem nincs ő ők pedig s saját szeretnék
    tud tudok van vagy vagyok volt van-e`,
  id: `ada adalah agar akan aku anda apa apakah atau bagaimana bagi bahwa banyak belum berapa bisa boleh buat dalam dan dapat dari
    dengan di dia hanya harus ini itu jika juga ke kami kamu kapan karena kepada kita lagi lebih mana mengapa mereka mau oleh pada para saja saya sebagai sangat
    sudah supaya tapi telah tentang tetapi tidak untuk yang ya ingin tolong`,
  vi: `anh bạn bao bị bởi các cái cần chỉ cho chị chưa chúng có cũng của đã đang đây để đến đi điều đó được gì hay hơn khi không là làm
    lại lên mà mình một muốn nào này nếu nên nhiều như nhưng những nơi ở phải ra rất rồi sao sẽ tại thế thì tôi trong từ và vào vẫn về vì với xin
    nhiêu thể`,
  ru: `а без более бы был была были было быть в вам вас ваш ваша во вот все всё всего вы где да даже для до его ее её если есть еще ещё же за здесь и
    из или им их к как какая какие какой каком когда кого который которые кто куда ли либо мне много можно можете могу может мой моя мы на надо нам нас не
    него нее нет ни них но ну нужно о об один он она они оно от очень по под после почему при про раз с сам свой себя сейчас со
    так также такой там тебя то того тоже только том ты у уже хочу чего чем что чтобы эта эти это этого этой этот я сколько пожалуйста`,
  uk: `а або але без б би був була були було бути в вам вас ваш все всі ви від він вона вони воно где де для до же за з зі і із й його її їх
    к коли котрий кого ли лише мене мені ми можна можу може можете мій моя на над нам нас не немає ні ну о об один от по потрібно при про
    під скільки сам свій себе та так також там те тебе то тобі того той тільки ти у уже це цей ця ці чи чому що щоб хто хочу я як яка
    яке який якщо які є будь ласка куди`,
  el: `α αν ανα αυτό αυτή αυτός αυτά για γιατί δε δεν εγώ εδώ είμαι είναι είχε εκεί εμείς ένα ένας έχει έχω έχετε η ή θα και κάθε κάτι κι
    λοιπόν μα μας με μετά μέχρι μη μην μια μου μπορώ μπορεί μπορείτε να ναι ο οι όλα όμως όπως όταν ότι όχι πολύ που πού πριν προς πρέπει πώς πως
    πόσο πότε σας σε στη στην στης στο στον στους σου τα τη την της τι τις το τον του τους των ως ποιο ποια ποιος θέλω αλλά από`,
  he: `אבל או אותו אז אחרי איך אין אינו איפה אל אם אני אנחנו אנו אפשר אצל את אתה אתם בין גם היא הוא היה הם הן הזה הזאת זאת זה זו יש
    יכול יכולה כי כל כך כמה כן לא לי לך לנו לפני מה מי מתי מן עד על עם עוד צריך רוצה רק של שלי שלך שלכם שלנו ניתן למה האם בבקשה`,
  ar: `أن أنا أنت أو أي إذا إلى إن الذي التي الى اللذين ان او اين أين بعد بعض بل بين تم ثم حتى حول خلال دون ذلك سوف على عن عند عندما غير
    في فقط قبل قد كان كانت كل كم كما كيف كيفية لا لدي لديكم لم لن له لها لي ليس لماذا ما ماذا متى مع من منذ نحن نعم هذا هذه هل هم هنا
    هناك هو هي و يا يمكن يمكنني أريد اريد يجب فيها`,
  fa: `آن آنها آیا از است اگر اما او این با باید بر برای بود به بی تا چرا چطور چگونه چه چند چقدر خود در دارد دارم را سپس شد شده شما
    شود کجا کدام کرد که کنم کنید کی ما من می نیست و هر هم همه یا یک میتوانم می‌توانم میخواهم`,
  hi: `अगर अपना अपने अपनी आप आपका आपके आपकी इस इसका इसके इसे उस उसके एक और कब कर करता करना करने करें का कि किस किसी की कुछ के को कोई कौन क्या क्यों
    कितना कितने कितनी कैसे कहाँ कहां गया चाहिए चाहता जब जा जो तक तो था थे थी दे ने नहीं पर बहुत भी मुझे मेरा मेरी मेरे मैं में यदि यह या ये रहा रहे लिए
    वह वाले वे सकता सकती सकते सब से हम हमारे हाँ है हैं हूँ हूं ही हो होता होती होना`,
  ja: `あり ありま すか ですか ですが ますか ますが ですか んです のです どうやって どうしたら あ あなた あの ある あります あり あれ い いい いう いく いくら いつ いつも いる いえ う え お おり か かけ かも から が き
    ください くれ くれる けど こう ここ こと この これ ご さ さい さま さん し しか した しよう して しまう する すれ せ せる そう そこ
    その それ た たい たく ため たら だ だけ だっ だれ ち つ て で でき できる です でしょう でした と とき ところ とは どう どこ どちら どの どのくらい どれ どんな な
    ない なく なけれ など なに なら なり なる なっ に の のみ ので のに は はい へ ほう ほど ほしい ま ます ました ませ まし また まだ まで
    み みたい む め も もう もの もらう もらえ や やり よ よう よく より ら られ られる り る れ れる ろ わ を ん 何 何か 方 私 時 事 中 場合 的 教え えて おしえて
    知り 下さい 誰 何時 思 思い 分 僕 御 様 どうすれ すれば となり として について における によって いただく いただけ いただき いただけます なりますか`,
  zh: `一 一个 一下 上 下 不 不是 与 个 中 为 为了 为什么 也 了 于 什么 什麼 他 他们 以 们 任何 会 會 但 但是 你 你们 您 便 候 像 其 再 到 又 及 只 可 可以
    各 各位 后 吗 嗎 吧 呢 和 哪 哪个 哪些 哪里 啊 在 多 多少 多久 大 她 好 如 如何 如果 它 对 對 就 已 已经 并 应该 很 得 怎 怎么 怎样 怎麼 想 想要 我 我们 我們 或
    或者 所 所以 才 把 是 是否 时 时候 更 最 有 有没有 没 没有 每 给 给我 由 的 着 知道 能 能够 能不能 可不可以 自己 至 若 被 要 让 该 请 请问 請 請問 谁 跟 过 还 还是 这 这个
    这些 这样 进行 通过 那 那个 那些 都 里 需 需要 告诉 嘛 么 之 將 將 会不会 該 從 从 于是 因 因为 比 等 并且 而 而且`,
  ko: `가 것 경우 그 그것 그리고 나 나는 내 너 네 누가 누구 다 당신 더 또 또는 때 때문 를 만 몇 무슨 무엇 무엇을 뭐 및 수 안 어느 어디 어디서 어떤 어떻게 어떻게요
    언제 얼마 얼마나 없나요 없다 에 와 왜 우리 을 의 이 이것 있나요 있는 있다 있습니까 있습니다 있어요 저 저는 제 제가 좀 주세요 지금 하고 하나요 하는 하다 하면 하려면 할 합니까 합니다 해 해요 해주세요 싶어요 싶습니다 되나요 됩니까 인가요 입니까 입니다 알려주세요 가능한가요`,
  th: `กว่า กัน กับ การ ก็ ของ ขอ ครับ ค่ะ คะ คือ คุณ ความ จะ จาก จึง ฉัน ช่วย ซึ่ง ด้วย ดี ต้อง ต้องการ ตาม ตั้งแต่ แต่ ถ้า ถึง ทาง ทำ ทำไม ทั้ง ที่ ที่ไหน
    นะ นั้น นี้ ใน ใคร บ้าง ใช่ เป็น เป็นไง ผม พวก เพราะ เพื่อ เมื่อ เมื่อไหร่ เมื่อไร มา มาก มี มัน แล้ว แล้วก็ และ ว่า ไว้ ส่วน สามารถ เรา หรือ หรือไม่ หรือเปล่า ไหม มั้ย หาก ให้
    อยาก อย่าง อย่างไร อยู่ อะไร อีก เอา ได้ ไม่ ไป ไง เท่าไหร่ เท่าไร เท่า ไหร่ ไร กี่ ยังไง ยัง เลย ทราบ บอก หน่อย จ้า นาน`,
};

/**
 * Of these greetings, thanks and small talk are made, beside stop words, in all languages together. Those that are
 * about nothing in any message.
 */
const greetings = `
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
const smallTalk = `
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

const lists = { ...westernStopWords, ...easternStopWords };

/** A language that the words of a text can identify, by its code of ISO 639-1. */
export type Language = keyof typeof lists;

/** Of those of one script, the more widespread ones first. */
export const languages = Object.keys(lists) as Language[];

/** Folded, before endings are cut, with the languages that have them. Made when the first text is read. */
export const stopWords = once(() => {
  const words = new Map<string, Language[]>();
  for (const language of languages) {
    // Of one script each, so that a whole list folds as its words do, in a fraction of the time.
    for (const word of foldWord(foldWidthAndCase(lists[language])).split(/\s+/)) {
      const languages = words.get(word);
      if (languages === undefined) words.set(word, [language]);
      else languages.push(language);
    }
  }
  return words;
});

export const greetingWords = once(() => read(greetings));
export const smallTalkWords = once(() => read(smallTalk));

function read(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).map((word) => foldWord(foldWidthAndCase(word))));
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | null = null;
  return () => {
    value ??= make();
    return value;
  };
}
