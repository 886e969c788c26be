/** `GET /api/embed/{token}`: what a widget needs to draw the chat (spec 4.1), and the avatar made for companions without one. */
import type { Elysia } from "elysia";
import { type Companion, companionDefaults } from "../../domain/companion.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { createDirectRoute, type DirectRoute } from "../../http/direct-route.ts";
import { openEmbed } from "../../http/embed-guard.ts";
import type { HeaderBag } from "../../http/problem.ts";
import type { Services } from "../../http/services.ts";
import { type Awaitable, andThen } from "../../lib/awaitable.ts";
import { renderAvatar } from "./avatar.ts";
import { toEmbedConfig } from "./model.ts";

interface RenderedConfig {
  avatarUrl: string;
  voiceProvider: string | null;
  json: string;
}

/** The store freezes a companion before it hands it out, often many times: what was made of this very object holds. */
const rendered = new WeakMap<Companion, RenderedConfig>();

function renderConfig(companion: Companion, avatarUrl: string, voiceProvider: string | null): string {
  const known = rendered.get(companion);
  if (known?.avatarUrl === avatarUrl && known.voiceProvider === voiceProvider) return known.json;
  const json = JSON.stringify(toEmbedConfig(companion, avatarUrl, voiceProvider));
  rendered.set(companion, { avatarUrl, voiceProvider, json });
  return json;
}

const configPath = "/api/embed/:token";
const configHeaders = { "content-type": "application/json", "cache-control": "no-store" };

/** The body; throws what the guard throws. */
function answerConfig(services: Services, request: Request, token: string, headers: HeaderBag): Awaitable<string> {
  return andThen(openEmbed(services, request, token, headers), ({ companion }) => {
    const ownAvatar = () => `${baseUrlOf(services.settings, request)}/avatars/${token}.svg`;
    const voiceProvider = services.voice.hasVoice(companion) ? services.voice.providerName : null;
    return renderConfig(companion, companion.avatarUrl ?? ownAvatar(), voiceProvider);
  });
}

/** Every page view with a widget on it asks this. */
export function embedConfigRoute(services: Services): DirectRoute {
  return createDirectRoute(services, {
    path: configPath,
    isUsual: ({ token = "" }) => isEmbedToken(token),
    headers: configHeaders,
    answer: (request, headers) => answerConfig(services, request, request.params["token"] ?? "", headers),
  });
}

export function embedModule(services: Services) {
  return (app: Elysia) =>
    app
      .get(configPath, async ({ request, params, set }) => {
        Object.assign(set.headers, configHeaders);
        return await answerConfig(services, request, params.token, set.headers as HeaderBag);
      })
      .get("/avatars/:file", async ({ params, set }) => {
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
