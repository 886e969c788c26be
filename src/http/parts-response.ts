/** Responses of many megabytes: any step that takes all of one in one go would hold the event loop. */
import { joinInSlices } from "../lib/byte-slices.ts";
import { pause } from "../lib/pause.ts";
import { compressFor } from "./compression.ts";
import type { ResponseHead } from "./json-response.ts";
import { addHeaders } from "./stream-response.ts";

/** What is copied to the socket in one go; a smaller body is sent whole, with its length. */
const partBytes = 256 * 1024;

/** The pieces one behind the other, compressed if the client accepts it. The content type is in `set`. */
export async function respondInParts(
  request: Request,
  set: ResponseHead,
  pieces: readonly Uint8Array[],
): Promise<Response> {
  const body = await compressFor(request, set, await joinInSlices(pieces));
  return addHeaders(new Response(body.length > partBytes ? streamParts(body) : body), set);
}

/** No faster than the client takes them. */
function streamParts(body: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(body.subarray(at, at + partBytes));
        at += partBytes;
        if (at >= body.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Some milliseconds of work. */
const rowsPerSlice = 500;

/**
 * Writes many rows without keeping others waiting: there may be fifty thousand. The rows' texts, one behind the
 * other, as UTF-8; with `between` between two.
 */
export async function writeRows<Row>(
  rows: readonly Row[],
  write: (row: Row) => string,
  between = "",
): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < rows.length; at += rowsPerSlice) {
    if (at > 0) await pause();
    const text = rows
      .slice(at, at + rowsPerSlice)
      .map(write)
      .join(between);
    pieces.push(Buffer.from(at > 0 ? between + text : text));
  }
  return pieces;
}
