/** Sends content to S3 at the pace at which it is accepted: as one object if it is small, otherwise in parts. */
import { escapeXml } from "../../lib/xml-text.ts";
import { isRefusedWith, noS3 } from "./s3-failures.ts";
import type { AskS3, S3Request } from "./s3-requests.ts";
import { findText } from "./xml-reader.ts";

export interface S3Upload {
  readonly key: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly partBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Under way at the same time; one more is being filled. */
const concurrentParts = 2;
const type = { "content-type": "application/octet-stream" };

interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** Rejects with what `content` throws, the signal's reason, or `StorageFailure`; then the parts are given up. */
export async function uploadToS3(ask: AskS3, { key, content, partBytes, signal }: S3Upload): Promise<void> {
  const stop = new AbortController();
  const stopped = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
  const send = (request: Omit<S3Request, "key" | "signal">) => ask({ ...request, key, signal: stopped });
  let uploadId: string | null = null;
  const tags: Promise<string>[] = [];
  let sentBytes = 0;
  try {
    for await (const { bytes, isLast } of cutIntoParts(content, partBytes, stopped)) {
      if (isLast && uploadId === null) {
        await send({ method: "PUT", headers: { ...type, ...sumOf(bytes) }, body: bytes, isLong: true });
        return;
      }
      // Without the signal: an upload whose id never arrived could not be given up.
      uploadId ??= await begin((request) => ask({ ...request, key }));
      stopped.throwIfAborted();
      await tags.at(-concurrentParts);
      const tag = sendPart(send, uploadId, tags.length + 1, bytes);
      // Awaited later.
      tag.catch(() => {});
      tags.push(tag);
      sentBytes += bytes.length;
    }
    if (uploadId === null) return;
    await complete(send, uploadId, await Promise.all(tags)).catch(async (failure: unknown) => {
      // The answer to the first try may have been lost.
      const found = isRefusedWith(failure, "NoSuchUpload") ? await send({ method: "HEAD" }) : null;
      if (found?.headers.get("content-length") !== String(sentBytes)) throw failure;
    });
  } catch (error) {
    stop.abort();
    await Promise.allSettled(tags);
    // Parts still under way would stay there.
    if (uploadId !== null) await ask({ method: "DELETE", key, query: { uploadId } }).catch(() => {});
    throw error;
  }
}

/** Each is full but for the last, which is empty only if the content is. */
async function* cutIntoParts(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  let bytes = new Uint8Array(partBytes);
  let length = 0;
  for await (const piece of content) {
    signal.throwIfAborted();
    for (let from = 0; from < piece.length; ) {
      if (length === partBytes) {
        yield { bytes, isLast: false };
        // The other is being sent.
        bytes = new Uint8Array(partBytes);
        length = 0;
      }
      const taken = piece.subarray(from, from + partBytes - length);
      bytes.set(taken, length);
      length += taken.length;
      from += taken.length;
    }
  }
  yield { bytes: bytes.subarray(0, length), isLast: true };
}

type Send = (request: Omit<S3Request, "key" | "signal">) => ReturnType<AskS3>;

async function begin(send: Send): Promise<string> {
  const { document } = await send({ method: "POST", query: { uploads: "" }, headers: type, hasDocument: true });
  const uploadId = findText(document, "UploadId");
  if (uploadId === null || uploadId === "") throw noS3();
  return uploadId;
}

async function sendPart(send: Send, uploadId: string, number: number, body: Part["bytes"]): Promise<string> {
  const query = { partNumber: String(number), uploadId };
  const { headers } = await send({ method: "PUT", query, headers: sumOf(body), body, isLong: true });
  const tag = headers.get("etag");
  if (tag === null) throw noS3();
  return tag;
}

async function complete(send: Send, uploadId: string, tags: readonly string[]): Promise<void> {
  const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`);
  const xmlns = "http://s3.amazonaws.com/doc/2006-03-01/";
  const body = Buffer.from(`<CompleteMultipartUpload xmlns="${xmlns}">${parts.join("")}</CompleteMultipartUpload>`);
  await send({ method: "POST", query: { uploadId }, body, hasDocument: true, isLong: true });
}

/** Storages that hold objects back from deletion ask for it. */
function sumOf(bytes: Uint8Array): { "content-md5": string } {
  return { "content-md5": new Bun.CryptoHasher("md5").update(bytes).digest("base64") };
}
