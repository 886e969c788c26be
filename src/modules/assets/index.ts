/** `/widget.js`, `/panel.js`, `/sdk.js`, the images, and their twins under `/assets/`, whose names change with their content. */
import type { Elysia } from "elysia";
import { AppError } from "../../domain/errors.ts";
import { matchesTag } from "../../http/entity-tag.ts";
import { respondJsonText } from "../../http/json-response.ts";
import { createAssetShelf } from "./service.ts";

/** Short, so that a new version reaches every website within minutes, without a thing to be changed there. */
const stableCaching = "public, max-age=300, stale-while-revalidate=3600";
const immutableCaching = "public, max-age=31536000, immutable";

export function assetsModule() {
  const shelf = createAssetShelf();
  const published = JSON.stringify(shelf.references);

  async function serve(name: string, request: Request, cacheControl: string): Promise<Response> {
    const asset = await shelf.find(name, request.headers.get("accept-encoding"));
    if (asset === null) throw new AppError("not_found", "There is no file at this address.");
    const headers: Record<string, string> = {
      "cache-control": cacheControl,
      etag: asset.etag,
      vary: "Accept-Encoding",
      // Public by nature: any page may load them, isolated ones too.
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

  return (app: Elysia) =>
    app
      .get("/widget.js", ({ request }) => serve("widget.js", request, stableCaching))
      // For pages whose script is of the version before an upgrade; all others have its hashed name.
      .get("/panel.js", ({ request }) => serve("panel.js", request, stableCaching))
      .get("/sdk.js", ({ request }) => serve("sdk.js", request, stableCaching))
      // Where browsers, home screens and previews of links look by themselves.
      .get("/favicon.ico", ({ request }) => serve("favicon.png", request, stableCaching))
      .get("/apple-touch-icon.png", ({ request }) => serve("touch-icon.png", request, stableCaching))
      .get("/share.png", ({ request }) => serve("share.png", request, stableCaching))
      .get("/assets/integrity.json", ({ set }) => {
        set.headers["cache-control"] = "public, max-age=300";
        set.headers["access-control-allow-origin"] = "*";
        return respondJsonText(set, published, 200);
      })
      .get("/assets/:file", ({ request, params }) => {
        // A stable name would be kept for ever under a promise that only hashed ones can keep.
        const isHashed = /\.[0-9a-z]{8,10}\.\w+$/.test(params.file);
        return serve(isHashed ? params.file : "", request, immutableCaching);
      });
}
