/** Words that say nothing about what a text is about, in the languages of eastern Europe and of Asia. */
export const easternStopWords = {
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
