/** Shared by all pages: escaping, the document frame, and a policy that allows only our own files to run. */
import { type AppError, errorCodes } from "../domain/errors.ts";
import type { HeaderBag } from "./problem.ts";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for use in an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

export interface PagePolicy {
  /** The page's own style sheet, allowed by its hash. */
  style: string;
  /** For static pages: no scripts, no connections. */
  isStill?: boolean;
  /** Additional image sources. */
  images?: readonly string[];
  /** Additional addresses that scripts may connect to. */
  connections?: readonly string[];
  /** Who may embed the page in a frame. */
  ancestors: readonly string[];
  /** Whether scripts may solve challenges, in a worker of their own text. */
  solvesChallenges?: boolean;
  /** Whether the page has forms, which may only be sent to this server. */
  hasForms?: boolean;
}

export function contentSecurityPolicy({
  style,
  isStill = false,
  images = [],
  connections = [],
  ancestors,
  solvesChallenges = false,
  hasForms = false,
}: PagePolicy): string {
  const styleHash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  const running = [
    "script-src 'self'",
    ["connect-src 'self'", ...connections].join(" "),
    "manifest-src 'self'",
    "require-trusted-types-for 'script'",
    `trusted-types ${solvesChallenges ? "companion-challenge" : "'none'"}`,
    ...(solvesChallenges ? ["worker-src blob:"] : []),
  ];
  return [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    ["img-src 'self' data:", ...images].join(" "),
    "base-uri 'none'",
    `form-action ${hasForms ? "'self'" : "'none'"}`,
    `frame-ancestors ${ancestors.join(" ")}`,
    ...(isStill ? [] : running),
  ].join("; ");
}

/** A complete document; `title`, `head` and `body` are HTML. */
export function renderPage(title: string, style: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="robots" content="noindex">
<link rel="icon" href="/favicon.ico">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<style>${style}</style>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

export function writePageHeaders(headers: HeaderBag, policy: string): void {
  headers["content-type"] = "text/html; charset=utf-8";
  headers["content-security-policy"] = policy;
  headers["referrer-policy"] = "no-referrer";
  headers["cache-control"] = "no-cache";
}

/** For pages with a few words. Its hash is in the policy, so it must be sent byte for byte. */
export const plainStyle = `
:root {
  color-scheme: light dark;
  --ground: #f7f7fb; --text: #1b1d24; --muted: #565b69; --line: #e1e3ea; --card: #fff; --accent: #4f46e5; --on: #fff;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e0f13; --text: #eceef3; --muted: #a3a9b8; --line: #2c303a; --card: #16181e; --accent: #a5a0ff; --on: #14132b; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--ground); color: var(--text); }
main { width: 100%; max-width: 34rem; padding: 32px; border: 1px solid var(--line); border-radius: 18px; background: var(--card); overflow-wrap: anywhere; }
.name { margin: 0 0 16px; color: var(--muted); font-size: .94rem; font-weight: 600; }
h1 { margin: 0 0 8px; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
p, li { color: var(--muted); text-wrap: pretty; }
p { margin: 0 0 12px; }
ol { margin: 16px 0; padding-left: 1.4em; }
li { padding: 0 0 8px 4px; }
li strong { color: var(--text); font-weight: 600; }
code { font: .9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text); }
.ways { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; margin: 20px 0 0; }
a { color: var(--accent); text-underline-offset: 3px; }
.button { padding: 6px 16px; border-radius: 10px; background: var(--accent); color: var(--on); font-weight: 550; text-decoration: none; }
.button:hover { filter: brightness(1.08); }
.small { margin: 20px 0 0; font-size: .86rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** An error as a page, for people whose browser requested one. */
export function renderErrorPage(error: AppError, requestId: string): string {
  const { status, title } = errorCodes[error.code];
  // The id helps only those who can look up the reason.
  const report = status >= 500 ? `<p class="small">Request id: <code>${escapeHtml(requestId)}</code></p>` : "";
  return renderPage(
    title,
    plainStyle,
    "",
    `<main>
<p class="name">${status}</p>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(error.message)}</p>
<p class="ways"><a href="/">To the start page</a></p>
${report}
</main>`,
  );
}

export function plainPolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["'none'"] });
}
