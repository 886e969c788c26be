/** Compresses large responses of the management API where the client accepts it. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { varyBy } from "./accept.ts";
import type { ResponseHead } from "./json-response.ts";

/** Below, compressing takes longer than sending the rest. */
const leastBytes = 1024;

type Text = string | Uint8Array;
type Compress = (text: Text) => Promise<Uint8Array>;

// These work outside of the event loop. At these levels 8 MiB of companions take 30 to 60 ms of another core and become a
// quarter; the next levels take twice as long for a tenth less.
const gzipAsync = promisify<Text, object, Buffer>(gzip);
const brotliAsync = promisify<Text, object, Buffer>(brotliCompress);

/** In the order in which we prefer them. */
const encodings: readonly (readonly [name: string, compress: Compress])[] = [
  ["zstd", (text) => Bun.zstdCompress(text, { level: 3 })],
  ["br", (text) => brotliAsync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ["gzip", (text) => gzipAsync(text, { level: 3 })],
];

/**
 * The text as the client accepts it, with the headers that say so. Only for responses that hold no secret: none of them
 * returns a request's words beside one, whose length would tell it.
 */
export async function compressFor<Given extends Text>(
  request: Request,
  set: ResponseHead,
  text: Given,
): Promise<Given | Uint8Array> {
  varyBy(set.headers as Record<string, string | number>, "Accept-Encoding");
  if (text.length < leastBytes) return text;
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  if (encoding === undefined) return text;
  const [name, compress] = encoding;
  const compressed = await compress(text);
  set.headers["content-encoding"] = name;
  return compressed;
}

/** The one that the client likes best; undefined for none, if it says nothing, or likes plain text better. */
function chooseEncoding(accepted: string | null) {
  if (accepted === null) return undefined;
  const qualities = new Map(
    accepted.split(",").map((entry) => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
      const value = quality === undefined ? 1 : Number(quality);
      return [name, Number.isFinite(value) ? value : 0];
    }),
  );
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get("*") ?? 0;
  const best = Math.max(...encodings.map(([name]) => qualityOf(name)));
  if (best <= 0 || best < (qualities.get("identity") ?? 0)) return undefined;
  return encodings.find(([name]) => qualityOf(name) === best);
}
