/** What people open by hand: `/c/{token}`, one companion as a page, and `/`, which names what runs here. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { companionDefaults } from "../../domain/companion.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { baseUrlOf, knownBaseUrlOf } from "../../http/base-url.ts";
import { prefersHtml, varyBy } from "../../http/compression.ts";
import { findDemoToken, isSetUp } from "../../http/first-steps.ts";
import { contentSecurityPolicy, plainPolicy, plainStyle, renderPage, writePageHeaders } from "../../http/html.ts";
import { type Route, route } from "../../http/route.ts";
import { SemaphoreFull } from "../../lib/semaphore.ts";
import { type CompanionPage, companionPagePolicy, renderCompanionPage, renderManifest } from "./companion-page.ts";
import { renderShareImage } from "./share-image.ts";
import { renderWelcomePage, welcomePolicy } from "./welcome-page.ts";

const ready = `<h1>Chat companions for websites</h1>
<p>This server runs chat assistants for websites. Looking for a chat? Go back to the site you came from.</p>
<p>Is that site yours? Sign in to manage its companions, conversations and API keys.</p>
<p class="ways"><a class="button" href="/app">Sign in</a> <a href="/docs/guides">Guides</a> <a href="/docs">API reference</a></p>`;

/** No one can sign in yet: the link that changes this is where only the operator can read it. */
const fresh = `<h1>This server is new</h1>
<p>It will host chat companions for websites. If it is yours, begin on the machine that it runs on:</p>
<ol>
<li><strong>Open the set-up link.</strong> The server prints it on its terminal when it starts, or writes it to the file
<code>setup-link</code> in its data directory. It works once, for 30 minutes; <code>companiond account setup-link</code>
creates a new one.</li>
<li><strong>Connect a language model</strong>, if you haven't: start the server with <code>OPENAI_API_KEY</code>, or with
<code>OPENAI_BASE_URL</code> for any compatible endpoint.</li>
<li><strong>Create a companion</strong> in the dashboard, and paste its snippet into your website.</li>
</ol>
<p class="ways"><a href="/docs/guides/operators">Running companiond</a> <a href="/docs">API reference</a></p>`;

/** Without a demo. Reveals nothing about the version, accounts or companions. */
function renderStartPage(isSetUp: boolean): string {
  const words = isSetUp ? ready : fresh;
  return renderPage("companiond", plainStyle, "", `<main>\n<p class="name">companiond</p>\n${words}\n</main>`);
}

async function findPage(services: Services, token: string, request: Request): Promise<CompanionPage | null> {
  const { settings, store, voice } = services;
  const target = isEmbedToken(token) ? await store.companions.findByEmbedToken(token) : null;
  if (target === null) return null;
  const { companion } = target;
  return {
    companion,
    token,
    baseUrl: knownBaseUrlOf(settings, request),
    isEncrypted: baseUrlOf(settings, request).startsWith("https:"),
    hasVoice: voice.hasVoice(companion),
    lang: preferredLanguage(request),
  };
}

const html = { "text/html": null };

export const pageRoutes: readonly Route[] = [
  route({
    id: "getCompanionPage",
    method: "GET",
    path: "/c/{token}",
    tag: "Embed",
    summary: "A full-page chat with the companion, for links",
    access: "public",
    document: () => ({
      description:
        "Which sites may frame it follows the companion's `allowed_origins`. A browser that asks for an unknown companion gets a page that says so.",
      responses: {
        200: { description: "The page.", content: html },
      },
      errors: ["not_found"],
    }),
    async handle({ services, request, params, set }) {
      const page = await findPage(services, params.token, request);
      if (page === null) {
        if (!prefersHtml(request)) throw missing();
        writePageHeaders(set.headers, missingPagePolicy());
        varyBy(set.headers, "Accept");
        set.status = 404;
        return renderMissingPage();
      }
      writePageHeaders(set.headers, companionPagePolicy(page));
      set.headers["vary"] = "Accept, Accept-Language";
      // The microphone only for this page, not for frames that a reply might one day contain.
      set.headers["permissions-policy"] = "microphone=(self), camera=(), geolocation=()";
      return renderCompanionPage(page);
    },
  }),
  route({
    id: "getCompanionManifest",
    method: "GET",
    path: "/c/{token}/manifest.webmanifest",
    tag: "Embed",
    summary: "The page's manifest, which makes it installable",
    access: "public",
    document: () => {
      const fields = { name: t.String({ examples: ["Ada"] }) };
      const Manifest = t.Object(fields, { additionalProperties: true, description: "A web app manifest." });
      return {
        responses: { 200: { description: "The manifest.", content: { "application/manifest+json": Manifest } } },
        errors: ["not_found"],
      };
    },
    async handle({ services, request, params, set }) {
      const page = await findPage(services, params.token, request);
      if (page === null) throw missing();
      set.headers["content-type"] = "application/manifest+json";
      set.headers["cache-control"] = "public, max-age=300";
      return renderManifest(page);
    },
  }),
  route({
    id: "getCompanionShareImage",
    method: "GET",
    path: "/c/{token}/share.png",
    tag: "Embed",
    summary: "The image in previews of links to the page, a PNG of 1200 by 630",
    access: "public",
    document: () => ({
      description: "The companion's name on its theme colour.",
      responses: { 200: { description: "The image.", content: { "image/png": null } } },
      errors: ["not_found", "unavailable"],
    }),
    async handle({ services, request, params, set }) {
      const page = await findPage(services, params.token, request);
      if (page === null) throw missing();
      const { name, themeColor } = page.companion;
      set.headers["content-type"] = "image/png";
      set.headers["cache-control"] = "public, max-age=3600";
      set.headers["cross-origin-resource-policy"] = "cross-origin";
      const image = await renderShareImage(name, themeColor ?? companionDefaults.themeColor).catch((cause: unknown) => {
        if (!(cause instanceof SemaphoreFull)) throw cause;
        throw new AppError("unavailable", "Too many images are being drawn. Try again in a moment.", { cause });
      });
      return new Response(Buffer.from(image));
    },
  }),
  route({
    id: "getWelcome",
    method: "GET",
    path: "/",
    tag: "Service",
    summary: "What runs here; with the demo companion if the demo is on",
    access: "public",
    document: () => ({ responses: { 200: { description: "The page.", content: html } } }),
    async handle({ services, request, set }) {
      const { settings, llm } = services;
      const token = await findDemoToken(services);
      if (token === null) {
        writePageHeaders(set.headers, plainPolicy());
        return renderStartPage(await isSetUp(services));
      }
      const { version } = settings;
      const baseUrl = knownBaseUrlOf(settings, request);
      writePageHeaders(set.headers, welcomePolicy());
      return renderWelcomePage({ token, baseUrl, version, llmName: llm.name, model: settings.llm.model });
    },
  }),
];

function missing(): AppError {
  return new AppError("not_found", "There is no companion at this address.");
}

/** The first one of the list, which browsers sort by preference. */
function preferredLanguage(request: Request): string {
  return /^[a-z]{2,3}(-[a-z\d]{2,8})*/i.exec(request.headers.get("accept-language") ?? "")?.[0] ?? "en";
}

function renderMissingPage(): string {
  return renderPage(
    "Chat not found",
    plainStyle,
    "",
    "<main><h1>This chat is not available.</h1><p>The link is mistyped, or it has been withdrawn.</p></main>",
  );
}

/** Websites that framed the companion may show this page instead. */
function missingPagePolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["*"] });
}
