/** `/` with a demo: what is running, and the next three steps. */

import { contentSecurityPolicy, escapeHtml, renderPage } from "../../http/html.ts";
import { embeddedAssets } from "../../web/generated/assets.ts";
import { welcomeStyle } from "./welcome-style.ts";

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
