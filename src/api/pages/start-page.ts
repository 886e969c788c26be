/**
 * `/` without a demo: what this server is and where to go next. Reveals nothing about its version, accounts or
 * companions.
 */
import { contentSecurityPolicy, plainStyle, renderPage } from "../../http/html.ts";

const ready = `<h1>Chat companions for websites</h1>
<p>This server hosts them: visitors talk to them where a website has put them.</p>
<p>Were you looking for a chat? It is on the website that sent you here. Is that website yours? Sign in to manage its
companions, their conversations and your API keys.</p>
<p class="ways"><a class="button" href="/app">Sign in</a> <a href="/docs/guides">Guides</a> <a href="/docs">API reference</a></p>`;

/** Nobody can sign in yet: the link that changes this is where only the operator can read it. */
const fresh = `<h1>This server is new</h1>
<p>It will host chat companions for websites. If it is yours, begin on the machine that it runs on:</p>
<ol>
<li><strong>Open the set-up link.</strong> The server prints it on its terminal when it starts, or writes it to the file
<code>setup-link</code> in its data directory. It works once, for 30 minutes; <code>companiond account setup-link</code>
makes a new one.</li>
<li><strong>Connect a language model</strong>, if you have not: start the server with <code>OPENAI_API_KEY</code>, or with
<code>OPENAI_BASE_URL</code> for any compatible endpoint.</li>
<li><strong>Make a companion</strong> in the dashboard, and paste its snippet into your website.</li>
</ol>
<p class="ways"><a href="/docs/guides/operators">Running companiond</a> <a href="/docs">API reference</a></p>`;

export function renderStartPage(isSetUp: boolean): string {
  const words = isSetUp ? ready : fresh;
  return renderPage("companiond", plainStyle, "", `<main>\n<p class="name">companiond</p>\n${words}\n</main>`);
}

export function plainPolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["'none'"] });
}
