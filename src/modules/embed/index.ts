/** `GET /api/embed/{token}`: what a widget needs to draw the chat (spec 4.1), and the avatar made for companions without one. */
import type { Elysia } from "elysia";
import { type Companion, companionDefaults } from "../../domain/companion.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { answerAtOnce } from "../../http/at-once.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { openEmbed } from "../../http/embed-guard.ts";
import { answerFailure } from "../../http/error-handling.ts";
import { type HeaderBag, toAppError } from "../../http/problem.ts";
import { ResponseTemplate } from "../../http/response-template.ts";
import type { Services } from "../../http/services.ts";
import { type Awaitable, andThen } from "../../lib/awaitable.ts";
import { renderAvatar } from "./avatar.ts";
import { toEmbedConfig } from "./model.ts";

interface ConfigContext {
  readonly request: Request;
  readonly params: { readonly token: string };
  readonly set: { headers: HeaderBag };
}

interface RenderedConfig {
  avatarUrl: string;
  voiceProvider: string | null;
  json: string;
}

/** The store hands out the same object for as long as nothing is committed, so what was made of it still holds. */
const rendered = new WeakMap<Companion, RenderedConfig>();

function renderConfig(companion: Companion, avatarUrl: string, voiceProvider: string | null): string {
  const known = rendered.get(companion);
  if (known?.avatarUrl === avatarUrl && known.voiceProvider === voiceProvider) return known.json;
  const json = JSON.stringify(toEmbedConfig(companion, avatarUrl, voiceProvider));
  rendered.set(companion, { avatarUrl, voiceProvider, json });
  return json;
}

export function embedModule(services: Services) {
  const template = new ResponseTemplate(["x-request-id", "ratelimit", "access-control-allow-origin"]);

  function answerConfig({ request, params: { token }, set }: ConfigContext): Awaitable<Response> {
    return andThen(openEmbed(services, request, token, set.headers), ({ companion }) => {
      set.headers["content-type"] = "application/json";
      set.headers["cache-control"] = "no-store";
      const ownAvatar = () => `${baseUrlOf(services.settings, request)}/avatars/${token}.svg`;
      const voiceProvider = services.voice.hasVoice(companion) ? services.voice.providerName : null;
      return template.respond(renderConfig(companion, companion.avatarUrl ?? ownAvatar(), voiceProvider), set);
    });
  }

  const fail = (error: unknown, context: ConfigContext) => answerFailure(services, toAppError(error), context);
  return (app: Elysia) =>
    app.get("/api/embed/:token", answerAtOnce(answerConfig, fail)).get("/avatars/:file", async ({ params, set }) => {
      const token = params.file.endsWith(".svg") ? params.file.slice(0, -4) : "";
      const target = isEmbedToken(token) ? await services.store.companions.findByEmbedToken(token) : null;
      if (target === null) throw new AppError("not_found", "There is no avatar at this address.");
      set.headers["content-type"] = "image/svg+xml";
      set.headers["access-control-allow-origin"] = "*";
      set.headers["cross-origin-resource-policy"] = "cross-origin";
      // Short, since a revoked token's avatar must go too.
      set.headers["cache-control"] = "public, max-age=300";
      set.headers["content-security-policy"] = "default-src 'none'";
      return renderAvatar(target.companion.name, target.companion.themeColor ?? companionDefaults.themeColor);
    });
}
