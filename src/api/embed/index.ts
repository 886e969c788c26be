/** `GET /api/embed/{token}`: what a widget needs to draw the chat (spec 4.1); and avatars for companions without one. */
import type { Services } from "../../core/dependencies.ts";
import type { Availability } from "../../core/people/people.ts";
import { avatarPath, hashOfAvatar } from "../../domain/avatar.ts";
import { type Companion, companionDefaults } from "../../domain/companion.ts";
import { isEmbedToken } from "../../domain/credentials.ts";
import { AppError } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { createDirectRoute, type DirectRoute } from "../../http/direct-route.ts";
import { openEmbed, pageView } from "../../http/embed-guard.ts";
import { escapeHtml } from "../../http/html.ts";
import type { HeaderBag } from "../../http/problem.ts";
import { type Route, route } from "../../http/route.ts";
import { Text } from "../../http/schemas/schema.ts";
import { readableTextColor } from "../../lib/contrast.ts";
import { matchesTag, tagOf } from "../../lib/entity-tag.ts";
import { EmbedConfig, toEmbedConfig } from "./responses.ts";

interface RenderedConfig {
  token: string;
  baseUrl: string | null;
  voiceProvider: string | null;
  handoff: Availability | null;
  json: string;
  etag: string;
}

/** By the object that the store returns, which is a new one whenever anything in it may have changed. */
const rendered = new WeakMap<Companion, RenderedConfig>();

async function renderConfig(
  { store }: Pick<Services, "store">,
  companion: Companion,
  token: string,
  baseUrl: string | null,
  voiceProvider: string | null,
  handoff: Availability | null,
): Promise<RenderedConfig> {
  const known = rendered.get(companion);
  const isSame = known?.token === token && known.baseUrl === baseUrl && known.voiceProvider === voiceProvider;
  if (isSame && isSameAvailability(known.handoff, handoff)) return known;
  const avatarUrl = companion.avatarUrl ?? (await ownAvatarUrl(store, companion, token, baseUrl));
  const json = JSON.stringify(toEmbedConfig(companion, avatarUrl, voiceProvider, handoff));
  const config = { token, baseUrl, voiceProvider, handoff, json, etag: tagOf(json) };
  rendered.set(companion, config);
  return config;
}

function isSameAvailability(one: Availability | null, other: Availability | null): boolean {
  return one?.isAvailable === other?.isAvailable && one?.reopensAtMs === other?.reopensAtMs;
}

/** A `data:` URL if our own address is unknown: the response is cached and must contain no host chosen by a client. */
async function ownAvatarUrl(
  { companions }: Services["store"],
  companion: Companion,
  token: string,
  baseUrl: string | null,
): Promise<string> {
  const { avatarHash } = companion;
  if (baseUrl !== null) return baseUrl + (avatarHash === null ? `/avatars/${token}.svg` : avatarPath(avatarHash));
  const image = avatarHash === null ? null : await companions.findAvatar(avatarHash);
  if (image !== null) return `data:image/webp;base64,${Buffer.from(image).toString("base64")}`;
  return `data:image/svg+xml,${encodeURIComponent(drawAvatar(companion))}`;
}

function drawAvatar({ name, themeColor }: Companion): string {
  return renderAvatar(name, themeColor ?? companionDefaults.themeColor);
}

/** `max-age` is how long a page may still show what was revoked or changed. */
const configHeaders = { "content-type": "application/json", "cache-control": "private, max-age=60" };

/** The body, or null if the client already has it. */
async function renderResponse(
  services: Services,
  request: Request,
  token: string,
  companion: Companion,
  handoff: Availability | null,
  headers: HeaderBag,
): Promise<string | null> {
  const voiceProvider = services.voice.hasVoice(companion) ? services.voice.providerName : null;
  const baseUrl = companion.avatarUrl === null ? knownBaseUrlOf(services.settings, request) : null;
  const { json, etag } = await renderConfig(services, companion, token, baseUrl, voiceProvider, handoff);
  headers["etag"] = etag;
  return matchesTag(request.headers.get("if-none-match"), etag) ? null : json;
}

/** Requested on every view of a page with a widget. */
export function embedConfigRoute(services: Services): DirectRoute {
  return createDirectRoute(services, {
    path: "/api/embed/:token",
    isUsual: ({ token = "" }) => isEmbedToken(token),
    headers: configHeaders,
    async respond(request, headers) {
      const { token = "" } = request.params;
      const { target } = await openEmbed(services, request, token, headers, pageView);
      const { companion } = target;
      const handoff = companion.handoff === null ? null : await services.people.availabilityOf(companion);
      return renderResponse(services, request, token, companion, handoff, headers);
    },
  });
}

export const embedRoutes: readonly Route[] = [
  route({
    id: "getEmbedConfig",
    method: "GET",
    path: "/api/embed/{token}",
    tag: "Embed",
    summary: "Get what a widget needs to draw the chat",
    access: "embed",
    isPageView: true,
    document: () => ({
      description:
        "A browser may cache the response for a minute, and then revalidates it. Each request that arrives is checked again. " +
        "It counts in the windows of all embed requests, unless the operator gave page views windows of their own.",
      responses: {
        200: jsonResponse("The companion's public face.", EmbedConfig, "ETag", "Cache-Control"),
        304: { description: "Unchanged since the version of `If-None-Match`.", headers: ["ETag", "Cache-Control"] },
      },
    }),
    async handle({ services, request, params, set, target: { companion } }) {
      Object.assign(set.headers, configHeaders);
      const handoff = companion.handoff === null ? null : await services.people.availabilityOf(companion);
      const json = await renderResponse(services, request, params.token, companion, handoff, set.headers);
      if (json !== null) return json;
      delete set.headers["content-type"];
      return new Response(null, { status: 304 });
    },
  }),
  route({
    id: "getAvatar",
    method: "GET",
    path: "/avatars/{file}",
    tag: "Embed",
    summary: "Get the avatar that was uploaded or generated for a companion",
    access: "public",
    document: () => ({
      description: "No origin check and no limit. 404 once the token is revoked, or the uploaded avatar replaced.",
      params: {
        file: Text({
          description: "An embed token followed by `.svg`, or what `avatar.url` of a companion names.",
          examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa.svg"],
        }),
      },
      responses: {
        200: {
          description: "The image.",
          content: { "image/svg+xml": null, "image/webp": null },
          headers: ["Access-Control-Allow-Origin"],
        },
      },
      errors: ["not_found"],
    }),
    async handle({ services, params, set }) {
      set.headers["access-control-allow-origin"] = "*";
      set.headers["cross-origin-resource-policy"] = "cross-origin";
      const hash = hashOfAvatar(params.file);
      const image = hash === null ? null : await services.store.companions.findAvatar(hash);
      if (image !== null) {
        set.headers["content-type"] = "image/webp";
        set.headers["cache-control"] = "public, max-age=31536000, immutable";
        return new Response(Buffer.from(image));
      }
      const token = params.file.endsWith(".svg") ? params.file.slice(0, -4) : "";
      const target = isEmbedToken(token) ? await services.store.companions.findByEmbedToken(token) : null;
      if (target === null) throw new AppError("not_found", "There is no avatar at this address.");
      set.headers["content-type"] = "image/svg+xml";
      // Short, since a revoked token's avatar must disappear too.
      set.headers["cache-control"] = "public, max-age=300";
      set.headers["content-security-policy"] = "default-src 'none'";
      return drawAvatar(target.companion);
    },
  }),
];

/** Of a companion without an image: its initial on its theme colour, in a colour that is readable on it. */
function renderAvatar(name: string, themeColor: string): string {
  // A grapheme, not a code unit: names may begin with an emoji or a combined letter.
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(name.trim());
  const initial = [...segments][0]?.segment.toLocaleUpperCase("en") ?? "?";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96">` +
    `<rect width="96" height="96" rx="48" fill="${themeColor}"/>` +
    `<text x="48" y="50" fill="${readableTextColor(themeColor)}" font-family="system-ui, sans-serif" font-size="44" ` +
    `font-weight="600" text-anchor="middle" dominant-baseline="central">${escapeHtml(initial)}</text></svg>`
  );
}
