/** `/widget.js`, `/panel.js`, `/sdk.js` and the images; their copies under `/assets/` are named by their content. */
import { Type as t } from "@sinclair/typebox";
import { AppError } from "../../domain/errors.ts";
import { type ApiResponse, jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { Text } from "../../http/schemas/schema.ts";
import { matchesTag } from "../../lib/entity-tag.ts";
import { assetReferences, findAsset } from "./service.ts";

/** Short, so that a new version reaches every website within minutes, without any change there. */
const stableCaching = "public, max-age=300, stale-while-revalidate=3600";
const immutableCaching = "public, max-age=31536000, immutable";

async function serve(name: string, request: Request, cacheControl: string): Promise<Response> {
  const asset = await findAsset(name, request.headers.get("accept-encoding"));
  if (asset === null) throw new AppError("not_found", "There is no file at this address.");
  const headers: Record<string, string> = {
    "cache-control": cacheControl,
    etag: asset.etag,
    vary: "Accept-Encoding",
    // Public: any page may load them, even cross-origin isolated ones.
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
  };
  if (matchesTag(request.headers.get("if-none-match"), asset.etag)) {
    return new Response(null, { status: 304, headers });
  }
  headers["content-type"] = asset.contentType;
  if (asset.encoding !== "identity") headers["content-encoding"] = asset.encoding;
  return new Response(asset.bytes, { headers });
}

function fileResponses(description: string, content: NonNullable<ApiResponse["content"]>): Record<number, ApiResponse> {
  return {
    200: { description, content, headers: ["Access-Control-Allow-Origin"] },
    304: { description: "Unchanged since the version of `If-None-Match`." },
  };
}

const shared = { method: "GET", tag: "Service", access: "public" } as const;

function script(id: string, name: string, summary: string): Route {
  return route({
    ...shared,
    ...{ id, path: `/${name}`, summary },
    document: () => ({
      responses: fileResponses("The script.", { "text/javascript": null }),
      errors: ["not_found"],
    }),
    handle: ({ request }) => serve(name, request, stableCaching),
  });
}

function image(id: string, path: string, name: string, summary: string): Route {
  return route({
    ...shared,
    ...{ id, path, summary },
    document: () => ({ responses: fileResponses("The image.", { "image/png": null }) }),
    handle: ({ request }) => serve(name, request, stableCaching),
  });
}

export const assetRoutes: readonly Route[] = [
  script("getWidget", "widget.js", "The widget: paste it with `data-token`"),
  // For pages that still run the script from before an upgrade; all others use its hashed name.
  script("getPanel", "panel.js", "The widget's second file, which it fetches automatically"),
  script("getSdk", "sdk.js", "The client of the embed routes, without a user interface"),
  script("getChallengeSolver", "challenge.js", "Solves challenges; the widget and the SDK fetch it automatically"),
  script("getSourceList", "sources.js", "The list of what a reply cites, which the widget fetches automatically"),
  script("getFrames", "frames.js", "Tools of code and tables in replies, which the widget fetches automatically"),
  script("getConfirmation", "confirm.js", "The card of a call to confirm, which the widget fetches automatically"),
  script("getLive", "live.js", "What people of the team write, which the widget fetches automatically"),
  script("getHome", "home.js", "Earlier conversations, which the widget fetches automatically"),
  script("getTeaser", "teaser.js", "A line beside the launcher, which the widget fetches automatically"),
  script("getFeedback", "feedback.js", "Ratings and contacts, which the widget fetches automatically"),
  // Where browsers, home screens and link previews request them by default.
  image("getIcon", "/favicon.ico", "favicon.png", "The icon of tabs, a PNG of 48 by 48"),
  image("getTouchIcon", "/apple-touch-icon.png", "touch-icon.png", "The icon of home screens, a PNG of 180 by 180"),
  image("getShareImage", "/share.png", "share.png", "The image in previews of links, a PNG of 1200 by 630"),
  route({
    ...shared,
    id: "getIntegrity",
    path: "/assets/integrity.json",
    summary: "Hashed addresses and integrity values of the scripts",
    document: () => {
      const description = "By file: its hashed address and its integrity value.";
      const Integrity = t.Object({}, { $id: "Integrity", additionalProperties: true, description });
      return {
        responses: {
          200: jsonResponse(
            "For the `integrity` attribute of the script's element.",
            Integrity,
            "Access-Control-Allow-Origin",
          ),
        },
      };
    },
    handle({ set }) {
      set.headers["cache-control"] = "public, max-age=300";
      set.headers["access-control-allow-origin"] = "*";
      return assetReferences;
    },
  }),
  route({
    ...shared,
    id: "getAsset",
    path: "/assets/{file}",
    summary: "A file of the web build, under a name that changes with its content",
    document: () => ({
      params: { file: Text({ description: "The hashed name.", examples: ["widget.3f9a1c2b.js"] }) },
      responses: fileResponses("The file; it never changes.", {
        ...{ "text/javascript": null, "text/css": null, "image/svg+xml": null, "image/png": null },
        "application/json": t.Object(
          {},
          { additionalProperties: t.String(), description: "The interface's words in one language." },
        ),
      }),
      errors: ["not_found"],
    }),
    handle({ request, params }) {
      // Responses here are cached for ever, so stable names, whose content changes, are refused.
      const isHashed = /\.[0-9a-z]{8,10}\.\w+$/.test(params.file);
      return serve(isHashed ? params.file : "", request, immutableCaching);
    },
  }),
];
