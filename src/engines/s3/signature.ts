/**
 * Signs requests to S3 with AWS Signature Version 4, in their `Authorization`: the Amazon S3 API Reference, "Authenticating
 * Requests (AWS Signature Version 4)".
 */
import { sha256Hex } from "../../lib/sha256.ts";

export interface SigningKey {
  readonly keyId: string;
  readonly secret: string;
  readonly region: string;
}

export interface UnsignedRequest {
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

/** The headers, with those of the signature. */
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
