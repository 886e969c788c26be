/**
 * Checks signatures as S3 does (AWS Signature Version 4), from what arrived alone. It shares nothing with what signs:
 * `test/backup-storage/signature.test.ts` has it accept the requests of Bun's own client, too.
 */
import { createHash, createHmac } from "node:crypto";

export interface ArrivedRequest {
  readonly method: string;
  /** Path and query, as they arrived. */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Null: not checked. */
  readonly body: Uint8Array | null;
}

const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
const quote = (text: string) =>
  Array.from(Buffer.from(decodeURIComponent(text)), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");

/** What is wrong with it; null if nothing is. */
export function findSignatureFault(
  { method, target, headers, body }: ArrivedRequest,
  { keyId, secret, region }: { keyId: string; secret: string; region: string },
): string | null {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, scope = "", names = "", signature] = pattern.exec(headers.get("authorization") ?? "") ?? [];
  const time = headers.get("x-amz-date") ?? "";
  const sentAtMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (id !== keyId) return "key";
  if (!(Math.abs(Date.now() - sentAtMs) < 900_000)) return "time";
  if (scope !== `${time.slice(0, 8)}/${region}/s3/aws4_request`) return "scope";
  const signed = names.split(";");
  const required = [...headers.keys()].filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (!required.every((name) => signed.includes(name))) return "unsigned header";
  const declared = headers.get("x-amz-content-sha256") ?? "";
  if (declared !== "UNSIGNED-PAYLOAD" && body !== null && declared !== sha256(body)) return "body";
  const [path = "", query = ""] = target.split("?", 2);
  const pairs = query === "" ? [] : query.split("&").map((pair) => pair.split("="));
  const canonical = [
    method,
    path.split("/").map(quote).join("/"),
    pairs
      .map(([name = "", value = ""]) => `${quote(name)}=${quote(value)}`)
      .sort()
      .join("&"),
    ...signed.map((name) => `${name}:${(headers.get(name) ?? "").trim()}`),
    "",
    names,
    declared,
  ].join("\n");
  let key: string | Buffer = `AWS4${secret}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  return createHmac("sha256", key).update(text).digest("hex") === signature ? null : "signature";
}
