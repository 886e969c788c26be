/** Evaluates `Accept` headers (RFC 9110, 12.5), and compresses large responses of the management API. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
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
 * The text as the client accepts it, with the headers that declare it. Only for responses that hold no secret: none of them
 * returns a request's words beside one, whose length would reveal it.
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

/** The one that the client likes best; undefined for none, if it has no preference, or likes plain text better. */
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

/** From 0 to 1; of the matching ranges, the most specific one counts. */
function qualityOf(accept: string, type: string): number {
  const entries = accept.split(",").map((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
    return { range, quality: quality === undefined ? 1 : Number(quality) };
  });
  for (const range of [type, `${type.slice(0, type.indexOf("/"))}/*`, "*/*"]) {
    const found = entries.find((entry) => entry.range === range);
    // A malformed quality was meant to be a number: such a range is not preferred over others.
    if (found !== undefined) return Number.isFinite(found.quality) ? found.quality : 0;
  }
  return 0;
}

/** Whether the client prefers `type` over each of the `others`; false for a tie, and without a header. */
export function prefers(accept: string | null, type: string, ...others: readonly string[]): boolean {
  if (accept === null) return false;
  const quality = qualityOf(accept, type);
  return others.every((other) => quality > qualityOf(accept, other));
}

/** True for browsers that open a page; programs send no preference, or accept anything. */
export function prefersHtml(request: Request): boolean {
  return prefers(request.headers.get("accept"), "text/html", "application/problem+json", "application/json");
}

/** Adds to the `Vary` header; CORS may have set its own part. */
export function varyBy(headers: Record<string, string | number>, name: string): void {
  const known = String(headers.vary ?? "").split(/, */);
  headers.vary = [...known, name].filter((one, index, all) => one !== "" && all.indexOf(one) === index).join(", ");
}
