/** What people open by hand: `/c/{token}`, one companion as a page, and `/`, which says what runs here. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { prefersHtml, varyBy } from "../../http/accept.ts";

import { baseUrlOf, knownBaseUrlOf } from "../../http/base-url.ts";
import { findDemoToken, isSetUp } from "../../http/first-steps.ts";
import { writePageHeaders } from "../../http/html.ts";
import { type Route, route } from "../../http/route.ts";
import { type CompanionPage, companionPagePolicy, renderCompanionPage, renderManifest } from "./companion-page.ts";
import { missingPagePolicy, renderMissingPage } from "./missing-page.ts";
import { plainPolicy, renderStartPage } from "./start-page.ts";
import { renderWelcomePage, welcomePolicy } from "./welcome-page.ts";

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
