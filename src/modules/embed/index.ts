/** `GET /api/embed/{token}`: what a widget needs to draw the chat (spec 4.1), and the avatar made for companions without one. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { type Companion, companionDefaults } from "../../domain/companion.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { createDirectRoute, type DirectRoute } from "../../http/direct-route.ts";
import { openEmbed } from "../../http/embed-guard.ts";
import { matchesTag, tagOf } from "../../http/entity-tag.ts";
import type { HeaderBag } from "../../http/problem.ts";
import { renderAvatar } from "./avatar.ts";
import { toEmbedConfig } from "./model.ts";

interface RenderedConfig {
  token: string;
  baseUrl: string | null;
  voiceProvider: string | null;
  json: string;
  etag: string;
}

/** By the object that the store hands out, which is another one as soon as anything of it may have changed. */
const rendered = new WeakMap<Companion, RenderedConfig>();

function renderConfig(
  companion: Companion,
  token: string,
  baseUrl: string | null,
  voiceProvider: string | null,
): RenderedConfig {
  const known = rendered.get(companion);
  if (known?.token === token && known.baseUrl === baseUrl && known.voiceProvider === voiceProvider) return known;
  const avatarUrl = companion.avatarUrl ?? ownAvatarUrl(companion, token, baseUrl);
  const json = JSON.stringify(toEmbedConfig(companion, avatarUrl, voiceProvider));
  const config = { token, baseUrl, voiceProvider, json, etag: tagOf(json) };
  rendered.set(companion, config);
  return config;
}

/** Where our own address is not known, the image itself: the answer is kept, and may hold no host that a client chose. */
function ownAvatarUrl(companion: Companion, token: string, baseUrl: string | null): string {
  if (baseUrl !== null) return `${baseUrl}/avatars/${token}.svg`;
  return `data:image/svg+xml,${encodeURIComponent(drawAvatar(companion))}`;
}

function drawAvatar({ name, themeColor }: Companion): string {
  return renderAvatar(name, themeColor ?? companionDefaults.themeColor);
}

const configPath = "/api/embed/:token";
/** As long as a page may still show what was revoked or changed. */
const configHeaders = { "content-type": "application/json", "cache-control": "private, max-age=60" };

/** The body, or null where the client has it already; throws what the guard throws. */
async function respondConfig(
  services: Services,
  request: Request,
  token: string,
  headers: HeaderBag,
): Promise<string | null> {
  const { companion } = await openEmbed(services, request, token, headers);
  const voiceProvider = services.voice.hasVoice(companion) ? services.voice.providerName : null;
  const baseUrl = companion.avatarUrl === null ? knownBaseUrlOf(services.settings, request) : null;
  const { json, etag } = renderConfig(companion, token, baseUrl, voiceProvider);
  headers["etag"] = etag;
  return matchesTag(request.headers.get("if-none-match"), etag) ? null : json;
}

/** Every page view with a widget on it asks this. */
export function embedConfigRoute(services: Services): DirectRoute {
  return createDirectRoute(services, {
    path: configPath,
    isUsual: ({ token = "" }) => isEmbedToken(token),
    headers: configHeaders,
    answer: (request, headers) => respondConfig(services, request, request.params["token"] ?? "", headers),
  });
}

export function embedModule(services: Services) {
  return (app: Elysia) =>
    app
      .get(configPath, async ({ request, params, set }) => {
        Object.assign(set.headers, configHeaders);
        const json = await respondConfig(services, request, params.token, set.headers as HeaderBag);
        if (json !== null) return json;
        delete set.headers["content-type"];
        return new Response(null, { status: 304 });
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
        return drawAvatar(target.companion);
      });
}
