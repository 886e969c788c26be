/** Words that say nothing about what a text is about, in the languages of western and northern Europe. */
export const westernStopWords = {
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
