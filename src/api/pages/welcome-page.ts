/** `/` with a demo: what is running, and the next three steps. */
import { contentSecurityPolicy, escapeHtml, renderPage } from "../../http/html.ts";
import { embeddedAssets } from "../../web/generated/assets.ts";

/** The style sheet of `/` with a demo. Its hash is in the page's policy, so it must be sent byte for byte. */
export const welcomeStyle = `
:root {
  color-scheme: light dark;
  --ground: #f7f7fb; --text: #1b1d24; --muted: #565b69; --line: #e1e3ea; --card: #fff; --accent: #4f46e5; --on: #fff; --good: #178a50;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e0f13; --text: #eceef3; --muted: #a3a9b8; --line: #2c303a; --card: #16181e; --accent: #a5a0ff; --on: #14132b; --good: #5fd394; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); }
main {
  display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 420px); gap: 72px; align-items: center;
  max-width: 1120px; min-height: 100vh; margin: auto; padding: 48px 32px;
}
.status { display: flex; align-items: center; gap: 8px; margin: 0; font-size: .875rem; font-weight: 600; }
.status i { width: 8px; height: 8px; border-radius: 50%; background: var(--good); }
.status span { color: var(--muted); font-weight: 400; }
h1 { margin: 12px 0; font-size: clamp(1.9rem, 4.2vw, 2.75rem); line-height: 1.12; letter-spacing: -.022em; text-wrap: balance; }
.lead { margin: 0 0 32px; color: var(--muted); font-size: 1.06rem; text-wrap: pretty; }
ol { margin: 0; padding: 0; list-style: none; counter-reset: step; }
li { position: relative; padding: 0 0 24px 48px; counter-increment: step; }
li::before {
  content: counter(step); position: absolute; left: 0; top: 0; display: grid; place-items: center; width: 30px; height: 30px;
  border: 1px solid var(--line); border-radius: 50%; background: var(--card); color: var(--accent); font-size: .875rem; font-weight: 650;
}
li:not(:last-child)::after { content: ""; position: absolute; left: 15px; top: 36px; bottom: 6px; width: 1px; background: var(--line); }
h2 { margin: 2px 0 2px; font-size: 1.02rem; line-height: 1.6; }
li p { margin: 0 0 10px; color: var(--muted); font-size: .94rem; }
code { font: .9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text); }
a { color: var(--accent); text-underline-offset: 3px; }
.button { display: inline-block; padding: 6px 16px; border-radius: 10px; background: var(--accent); color: var(--on); font-weight: 550; text-decoration: none; }
.button:hover { filter: brightness(1.08); }
.quiet { display: inline-block; padding: 6px 10px; }
.snippet { display: flex; align-items: center; gap: 8px; margin-bottom: 10px; padding: 4px 4px 4px 14px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
pre { flex: 1; min-width: 0; margin: 0; padding: 8px 0; overflow-x: auto; font-size: .88rem; scrollbar-width: thin; }
button { flex: none; min-width: 72px; padding: 6px 12px; border: 0; border-radius: 9px; background: var(--ground); color: var(--text); font: inherit; font-size: .875rem; cursor: pointer; }
button:hover { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.chat { border-radius: 18px; box-shadow: 0 24px 64px rgb(15 18 30 / 12%); }
.cut { display: flex; gap: 12px; align-items: center; margin: 16px 0 0; color: var(--muted); font-size: .875rem; text-wrap: pretty; }
.cut button { border: 1px solid var(--line); background: var(--card); white-space: nowrap; }
@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); gap: 40px; padding: 32px 20px; } }
`;

export interface WelcomeFacts {
  /** The demo companion's embed token. */
  token: string;
  /** Without a trailing slash; null if unknown. */
  baseUrl: string | null;
  version: string;
  llmName: string;
  model: string;
}

export function renderWelcomePage({ token, baseUrl, version, llmName, model }: WelcomeFacts): string {
  const isScripted = llmName === "demo";
  const script = embeddedAssets.find(({ name }) => name === "welcome.js")?.fileName ?? "";
  return renderPage(
    "companiond",
    welcomeStyle,
    `<script src="/widget.js" async></script>
<script src="/assets/${script}" defer></script>`,
    `<main>
<section class="words">
<p class="status"><i></i>Running <span>version ${escapeHtml(version)}</span></p>
<h1>Your companions are ready to talk.</h1>
<p class="lead">This server hosts conversational companions for websites. Ada, on this page, is one of them, in the very
widget that your visitors will see. ${
      isScripted
        ? "She answers from a script, since no language model is configured yet."
        : `She answers with <code>${escapeHtml(model)}</code>.`
    }</p>
<ol>
<li><h2>Open the dashboard</h2>
<p>Make companions, see conversations, create API keys. The first sign-in is by the one-time link that the server
printed when it started; <code>companiond account setup-link</code> makes a new one.</p>
<p><a class="button" href="/app">Dashboard</a> <a class="quiet" href="/docs/guides">Guides</a> <a class="quiet" href="/docs">API reference</a></p></li>
<li><h2>${isScripted ? "Connect a language model" : "Choose what answers"}</h2>
<p>Start the server with <code>OPENAI_API_KEY</code>, or with <code>OPENAI_BASE_URL</code> for any compatible endpoint:
Ollama, vLLM, OpenRouter, LiteLLM.</p></li>
<li><h2>Put a companion on your website</h2>
${renderSnippet(token, baseUrl)}
<p>Or share <a href="/c/${token}">the companion's own page</a>.</p></li>
</ol>
</section>
<section class="stage" aria-label="The demo companion">
<div class="chat"><companion-chat mode="inline" token="${token}"></companion-chat></div>
<p class="cut"><button type="button" data-cut>Cut the connection</button> Try it while she answers: the reply goes on
at the server, and nothing of it is lost.</p>
</section>
</main>`,
  );
}

function renderSnippet(token: string, baseUrl: string | null): string {
  if (baseUrl === null) {
    return (
      "<p>Start the server with <code>COMPANIOND_PUBLIC_URL</code> set to the address that visitors use: the tag to copy " +
      "is here then.</p>"
    );
  }
  const snippet = escapeHtml(`<script src="${baseUrl}/widget.js" data-token="${token}" async></script>`);
  return `<p>One tag, anywhere in the page:</p>
<div class="snippet"><pre tabindex="0"><code>${snippet}</code></pre>
<button type="button" data-copy="${snippet}">Copy</button></div>`;
}

export function welcomePolicy(): string {
  return contentSecurityPolicy({ style: welcomeStyle, ancestors: ["'none'"] });
}
