/**
 * Requests to S3: signed, each with a deadline, their answers bounded. No redirect is followed: a signed request would go
 * to another host, and a backup with it.
 */
import { StorageFailure, type StorageLocation } from "../../contracts/backup-storage.ts";
import { startDeadline, waitFor } from "../../lib/deadline.ts";
import { GatheredBytes } from "../../lib/gathered-bytes.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { lateFailure, redirectFailure, S3Refusal, toStorageFailure } from "./s3-failures.ts";
import { findText, readXml, type XmlElement } from "./xml-reader.ts";

export interface S3Timing {
  /** For a request that sends or fetches little. */
  requestMs: number;
  /** For a part of what is sent, and for putting parts together. A slow line needs the time. */
  partMs: number;
  /** Before the second try; twice as long before the next. */
  pauseMs: number;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** With the prefix; left out for the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** In lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Of an answer with what was asked for; a shorter or longer one is a failure. */
  readonly answerBytes?: number;
  /** Whether the answer is a document. It can be an error then although the status is 200. */
  readonly hasDocument?: boolean;
  /** May take as long as a part. */
  readonly isLong?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Without a name if there is none. */
  readonly document: XmlElement;
}

/** Rejects with `StorageFailure`, or with the reason of the request's signal. */
export type AskS3 = (request: S3Request) => Promise<S3Answer>;

const tries = 4;
/** More than a thousand names of the longest kind in XML. */
const maxDocumentBytes = 16 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const nothing = new Uint8Array();
const noDocument: XmlElement = { name: "", text: "", children: [] };
const never = new AbortController().signal;

/** What fails in passing is tried again, but not what was late to send. */
export function createS3Requests(location: StorageLocation, { requestMs, partMs, pauseMs }: S3Timing): AskS3 {
  // What most take that know no regions, and AWS's default.
  const region = location.region ?? "us-east-1";
  const key = { keyId: location.keyId, secret: location.secret, region };
  const base = new URL(location.endpoint ?? `https://s3.${region}.amazonaws.com`);
  const root = `${base.pathname.replace(/\/+$/, "")}/${encodePath(location.bucket)}`;

  async function exchange(request: S3Request, signal: AbortSignal): Promise<S3Answer> {
    const { method, body = nothing, answerBytes = null, hasDocument = false } = request;
    const path = request.key === undefined ? root : `${root}/${encodePath(request.key)}`;
    const query = encodeQuery(request.query ?? {});
    const unsigned = { method, host: base.host, path, query, headers: request.headers ?? {} };
    const bodySha256 = Bun.SHA256.hash(body, "hex");
    const headers = signRequest({ ...unsigned, bodySha256 }, key, Date.now());
    const response = await fetch(`${base.origin}${path}${query === "" ? "" : `?${query}`}`, {
      method,
      // Compressed, an answer could be of any size.
      headers: { ...headers, "user-agent": "companiond", "accept-encoding": "identity" },
      decompress: false,
      redirect: "manual",
      signal,
      ...(method === "PUT" || method === "POST" ? { body } : {}),
    });
    const isGranted = response.status < 300;
    const given = await readBody(response, isGranted ? (answerBytes ?? maxDocumentBytes) : maxErrorBytes);
    const document = hasDocument || !isGranted ? readXml(Buffer.from(given).toString()) : null;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: given,
      document: document ?? noDocument,
    };
    if (!isGranted || document?.name === "Error") throw toRefusal(method, answer, base);
    if (answerBytes === null || given.length === answerBytes) return answer;
    throw new StorageFailure(`The storage gave ${given.length} of ${answerBytes} bytes of ${request.key}.`, true);
  }

  return async (request) => {
    const { signal = never, isLong = false } = request;
    const limitMs = isLong ? partMs : requestMs;
    for (let failed = 1; ; failed++) {
      const deadline = startDeadline(signal, limitMs, () => lateFailure(limitMs));
      try {
        return await exchange(request, deadline.signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const failure = toStorageFailure(deadline.signal.aborted ? deadline.signal.reason : error);
        const isTooSlow = isLong && deadline.signal.aborted;
        if (!failure.isPassing || isTooSlow || failed === tries) throw failure;
      } finally {
        deadline.end();
      }
      await waitFor(pauseMs * 2 ** (failed - 1), signal);
    }
  };
}

async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const gathered = new GatheredBytes();
  for await (const piece of response.body ?? []) {
    if (gathered.length + piece.length > maxBytes) {
      throw new StorageFailure(
        "The storage answers with more than it was asked for. Check COMPANIOND_BACKUP_S3_ENDPOINT.",
        false,
      );
    }
    gathered.add(piece);
  }
  return Buffer.concat(gathered.blocks, gathered.length);
}

function toRefusal(method: string, { status, headers, document }: S3Answer, base: URL): Error {
  const error = document.name === "Error" ? document : noDocument;
  const region = headers.get("x-amz-bucket-region") ?? findText(error, "Region");
  const location = headers.get("location");
  if (status >= 300 && status < 400) {
    return redirectFailure(status, location === null ? null : URL.parse(location, base.href), region);
  }
  // A HEAD is answered without a document.
  const code = findText(error, "Code") ?? (method === "HEAD" && status === 404 ? "NoSuchKey" : String(status));
  return new S3Refusal(code, region);
}

interface SigningKey {
  readonly keyId: string;
  readonly secret: string;
  readonly region: string;
}

interface UnsignedRequest {
  readonly method: string;
  /** As it stands in `Host`. */
  readonly host: string;
  /** Encoded by `encodePath`. */
  readonly path: string;
  /** Made by `encodeQuery`. */
  readonly query: string;
  /** All are signed. In lower case; without those of the signature and `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** In hex. */
  readonly bodySha256: string;
}

/**
 * Signs requests to S3 with AWS Signature Version 4, in their `Authorization`: the Amazon S3 API Reference,
 * "Authenticating Requests (AWS Signature Version 4)". The headers, with those of the signature.
 */
export function signRequest(
  { method, host, path, query, headers, bodySha256 }: UnsignedRequest,
  { keyId, secret, region }: SigningKey,
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const sent = { ...headers, "x-amz-content-sha256": bodySha256, "x-amz-date": time };
  const signed = Object.entries({ ...sent, host }).sort(([a], [b]) => compare(a, b));
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}`);
  const canonical = [method, path, query, ...lines, "", names, bodySha256].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256Hex(canonical)].join("\n");
  const key = scope.reduce<Uint8Array>((made, part) => hmac(made, part).digest(), Buffer.from(`AWS4${secret}`));
  const signature = hmac(key, toSign).digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keyId}/${scope.join("/")}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

/** With its slashes. */
export function encodePath(path: string): string {
  return path.split("/").map(encode).join("/");
}

export function encodeQuery(parameters: Readonly<Record<string, string>>): string {
  const encoded = Object.entries(parameters).map(([name, value]) => [encode(name), encode(value)] as const);
  return encoded
    .sort(([a], [b]) => compare(a, b))
    .map((pair) => pair.join("="))
    .join("&");
}

/** All but the unreserved characters of RFC 3986. */
function encode(text: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, hex);
}

function hmac(key: Uint8Array, text: string): Bun.CryptoHasher {
  return new Bun.CryptoHasher("sha256", key).update(text);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
