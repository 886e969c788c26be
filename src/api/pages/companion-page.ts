/** `/c/{token}`: one companion as a page of its own, and what makes the page installable. */
import { avatarPath } from "../../domain/avatar.ts";
import { type Companion, companionDefaults, defaultGreeting } from "../../domain/companion.ts";
import { maxOriginLength, normalizeOrigin } from "../../domain/origin.ts";
import type { VisitorAuth } from "../../domain/visitor.ts";
import { contentSecurityPolicy, escapeHtml } from "../../http/html.ts";
import { embeddedAssets } from "../../web/generated/assets.ts";

const style =
  "html{color-scheme:light dark;background:#fff}body{margin:0;font-family:system-ui,sans-serif}" +
  "noscript,main:not([hidden]){display:block;padding:3rem 1.5rem;text-align:center;text-wrap:balance}" +
  "h1{font-size:1.5rem}main p{max-width:32rem;margin:auto;line-height:1.6}" +
  "@media(prefers-color-scheme:dark){html{background:#16181e}}";

/** For visitors whom no website vouches for. The page shows it instead of the chat. */
const unknownVisitor = `<main hidden>
<h1>Open this chat from its website</h1>
<p>It answers only visitors whom that website vouches for. Your link does not identify you, or is too old: sign in
there, and open the chat again.</p>
</main>
`;

const shareImageSize =
  '<meta property="og:image:width" content="1200">\n<meta property="og:image:height" content="630">';

export interface CompanionPage {
  companion: Companion;
  token: string;
  /** Without a trailing slash; null if unknown. */
  baseUrl: string | null;
  /** Whether the visitor's connection is encrypted. */
  isEncrypted: boolean;
  hasVoice: boolean;
  /** The visitor's language, a BCP 47 tag. */
  lang: string;
}

export function renderCompanionPage({ companion, token, baseUrl, lang }: CompanionPage): string {
  const name = escapeHtml(companion.name);
  const description = escapeHtml(companion.greeting ?? defaultGreeting(companion.name));
  const own = companion.avatarUrl ?? (companion.avatarHash && avatarPath(companion.avatarHash));
  const icon = escapeHtml(own ?? `/avatars/${token}.svg`);
  const touchIcon = escapeHtml(own ?? "/apple-touch-icon.png");
  const links = [];
  // Link previews need absolute addresses, and do not show SVGs such as our own avatar.
  const image = companion.avatarUrl ?? (baseUrl === null ? null : `${baseUrl}/c/${token}/share.png`);
  if (image !== null) links.push(`<meta property="og:image" content="${escapeHtml(image)}">`);
  if (image !== null && companion.avatarUrl === null) links.push(shareImageSize);
  if (image !== null) links.push(`<meta property="og:image:alt" content="${name}">`);
  if (baseUrl !== null) links.push(`<meta property="og:url" content="${escapeHtml(`${baseUrl}/c/${token}`)}">`);
  const { visitorAuth } = companion;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${visitorAuth === "off" ? "" : renderVisitorScript(visitorAuth)}<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<title>${name}</title>
<meta name="description" content="${description}">
<meta name="robots" content="noindex">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#16181e">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
${links.join("\n")}
<link rel="icon" href="${icon}">
<link rel="apple-touch-icon" href="${touchIcon}">
<link rel="manifest" href="/c/${token}/manifest.webmanifest">
<style>${style}</style>
<script src="/widget.js" async></script>
</head>
<body>
<companion-chat mode="page" lang="${lang}" token="${token}"${visitorAuth === "off" ? "" : renderWords(lang)}></companion-chat>
${visitorAuth === "required" ? unknownVisitor : ""}<noscript>This chat needs JavaScript.</noscript>
</body>
</html>
`;
}

/** First of all, and not async: the token leaves the address before any other script runs. */
function renderVisitorScript(visitorAuth: VisitorAuth): string {
  const fileName = embeddedAssets.find(({ name }) => name === "visitor.js")?.fileName ?? "";
  return `<script src="/assets/${fileName}" data-visitors="${visitorAuth}"></script>\n`;
}

function renderWords(lang: string): string {
  return ` strings="${escapeHtml(JSON.stringify({ visitor_unverified: endedLinkSentence(lang) }))}"`;
}

export function companionPagePolicy({ companion, baseUrl, isEncrypted, hasVoice }: CompanionPage): string {
  const { allowedOrigins, avatarUrl } = companion;
  // The provider chooses the host when it signs. On a page without TLS, an unencrypted socket is not a downgrade.
  const voiceSockets = isEncrypted ? ["wss:"] : ["wss:", "ws:"];
  // The base URL may be a different name of this server than the one in the browser.
  const image = avatarUrl ?? baseUrl;
  const imageOrigin = image === null ? null : normalizeOrigin(new URL(image).origin);
  return contentSecurityPolicy({
    style,
    images: imageOrigin === null ? [] : [imageOrigin],
    connections: hasVoice ? voiceSockets : [],
    solvesChallenges: companion.challenge !== "off",
    // Longer entries date from before the limit and are not real websites.
    ancestors:
      allowedOrigins.length === 0
        ? ["*"]
        : ["'self'", ...allowedOrigins.filter((origin) => origin.length <= maxOriginLength)],
  });
}

export function renderManifest({ companion, token }: CompanionPage): string {
  const themeColor = companion.themeColor ?? companionDefaults.themeColor;
  const own = companion.avatarUrl ?? (companion.avatarHash && avatarPath(companion.avatarHash));
  const icon = own ? { src: own, sizes: "any" } : { src: `/avatars/${token}.svg`, sizes: "any", type: "image/svg+xml" };
  return JSON.stringify({
    id: `/c/${token}`,
    name: companion.name,
    short_name: [...companion.name].slice(0, 12).join(""),
    start_url: `/c/${token}`,
    scope: `/c/${token}`,
    display: "standalone",
    background_color: "#ffffff",
    theme_color: themeColor,
    icons: [icon],
  });
}

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

/**
 * What a visitor reads whose link to the companion's page is too old, or not valid: in each language of the widget.
 * `lang`: a BCP 47 tag; English for those that the widget does not speak.
 */
function endedLinkSentence(lang: string): string {
  return sentences[lang.toLowerCase().split("-")[0] ?? ""] ?? sentences["en"] ?? "";
}
