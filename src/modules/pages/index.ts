/** What people open by hand: `/c/{token}`, one companion as a page, and `/`, which says what runs here. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { demoEmail } from "../../domain/account.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { prefersHtml, varyBy } from "../../http/accept.ts";
import { baseUrlOf, knownBaseUrlOf } from "../../http/base-url.ts";
import { writePageHeaders } from "../../http/html.ts";
import { type CompanionPage, companionPagePolicy, renderCompanionPage, renderManifest } from "./companion-page.ts";
import { missingPagePolicy, renderMissingPage } from "./missing-page.ts";
import { plainPolicy, renderStartPage } from "./start-page.ts";
import { renderWelcomePage, welcomePolicy } from "./welcome-page.ts";

export function pagesModule(services: Pick<Services, "settings" | "store" | "voice" | "llm">) {
  const { settings, store, voice, llm } = services;

  async function findPage(token: string, request: Request): Promise<CompanionPage | null> {
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

  async function findDemoToken(): Promise<string | null> {
    const account = await store.accounts.findByEmail(demoEmail);
    if (account === null) return null;
    const query = { metadata: [{ path: "demo", value: "true" }], q: null };
    const { items } = await store.companions.list(account.id, query, { limit: 1, afterId: null });
    return items[0]?.embedToken ?? null;
  }

  let hasAccount = false;
  /** Whether anybody can sign in; that this ends again is not worth a look at the store for every request. */
  async function isSetUp(): Promise<boolean> {
    hasAccount ||= await store.accounts.hasAnyPassword();
    return hasAccount;
  }

  return (app: Elysia) =>
    app
      .get("/c/:token", async ({ request, params, set }) => {
        const page = await findPage(params.token, request);
        if (page === null) {
          if (!prefersHtml(request)) throw missing();
          writePageHeaders(set.headers, missingPagePolicy());
          varyBy(set.headers, "Accept");
          set.status = 404;
          return renderMissingPage();
        }
        writePageHeaders(set.headers, companionPagePolicy(page));
        set.headers.vary = "Accept, Accept-Language";
        // The microphone for this page alone, not for frames that a reply might bring in some day.
        set.headers["permissions-policy"] = "microphone=(self), camera=(), geolocation=()";
        return renderCompanionPage(page);
      })
      .get("/c/:token/manifest.webmanifest", async ({ request, params, set }) => {
        const page = await findPage(params.token, request);
        if (page === null) throw missing();
        set.headers["content-type"] = "application/manifest+json";
        set.headers["cache-control"] = "public, max-age=300";
        return renderManifest(page);
      })
      .get("/", async ({ request, set }) => {
        const token = settings.isDemo ? await findDemoToken() : null;
        if (token === null) {
          writePageHeaders(set.headers, plainPolicy());
          return renderStartPage(await isSetUp());
        }
        const baseUrl = knownBaseUrlOf(settings, request);
        writePageHeaders(set.headers, welcomePolicy());
        return renderWelcomePage({
          token,
          baseUrl,
          version: settings.version,
          llmName: llm.name,
          model: settings.llm.model,
        });
      });
}

function missing(): AppError {
  return new AppError("not_found", "There is no companion at this address.");
}

/** The first one of the list, which browsers sort by preference. */
function preferredLanguage(request: Request): string {
  return /^[a-z]{2,3}(-[a-z\d]{2,8})*/i.exec(request.headers.get("accept-language") ?? "")?.[0] ?? "en";
}
