/** Reads visitor tokens: JSON Web Tokens (RFC 7519) in compact form (RFC 7515), by stricter rules than theirs. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isClean } from "../../domain/metadata.ts";
import { areAttributes, isSub, type VisitorClaims } from "../../domain/visitor.ts";

const maxLength = 4096;
const leewaySeconds = 60;
const maxSeconds = 86_400;

/** A token whose form is right; nothing of it is proven yet. */
export interface ReadToken {
  /** As the token claims; the key's own algorithm decides. */
  readonly algorithm: string;
  /** Null if the token names none. */
  readonly keyId: string | null;
  readonly payload: JsonObject;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Null if it is no token by these rules. */
export function readToken(token: string): ReadToken | null {
  if (token.length > maxLength) return null;
  const [headerPart, payloadPart, signaturePart, ...rest] = token.split(".");
  if (headerPart === undefined || payloadPart === undefined || signaturePart === undefined || rest.length > 0) {
    return null;
  }
  const header = readPart(headerPart);
  const payload = readPart(payloadPart);
  const signature = decode(signaturePart);
  if (header === null || payload === null || signature === null) return null;
  const { alg, kid = null, crit } = header;
  // What `crit` lists must be understood (RFC 7515, 4.1.11), and we understand no extension.
  if (typeof alg !== "string" || (kid !== null && typeof kid !== "string") || crit !== undefined) return null;
  const signed = new TextEncoder().encode(`${headerPart}.${payloadPart}`);
  return { algorithm: alg, keyId: kid, payload, signed, signature };
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readPart(part: string): JsonObject | null {
  const bytes = decode(part);
  if (bytes === null) return null;
  try {
    return readStrictObject(strictUtf8.decode(bytes));
  } catch {
    return null;
  }
}

/** Only the one spelling that an encoder gives: no padding, no white space, no bits to spare. */
function decode(part: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    return encode(bytes) === part && part !== "" ? bytes : null;
  } catch {
    return null;
  }
}

function encode(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * What a token claims of its visitor; null if it is not for this companion and this moment, or breaks a bound. Whole
 * seconds, as other readers of tokens count.
 */
export function readClaims(payload: JsonObject, companionId: string, nowSeconds: number): VisitorClaims | null {
  const { aud, sub, name = null, email = null, attributes = null } = payload;
  if (!isFor(aud, companionId) || !isTimely(payload, nowSeconds)) return null;
  if (typeof sub !== "string" || !isSub(sub)) return null;
  if (name !== null && typeof name !== "string") return null;
  if (email !== null && typeof email !== "string") return null;
  const known = attributes ?? {};
  if (typeof known !== "object" || Array.isArray(known)) return null;
  if (!areAttributes(known)) return null;
  return { sub, name, email, attributes: known };
}

/** When a token whose claims were read ends: in its leeway, with that. */
export function endOf({ exp }: JsonObject, nowMs: number): number {
  const endsAtMs = Number(exp) * 1000;
  return endsAtMs > nowMs ? endsAtMs : endsAtMs + leewaySeconds * 1000;
}

function isFor(audience: JsonValue | undefined, companionId: string): boolean {
  return audience === companionId || (Array.isArray(audience) && audience.includes(companionId));
}

function isTimely({ exp, nbf, iat }: JsonObject, nowSeconds: number): boolean {
  // On its last second it has ended (RFC 7519, 4.1.4).
  if (typeof exp !== "number" || exp <= nowSeconds - leewaySeconds) return false;
  if (exp > nowSeconds + maxSeconds + leewaySeconds) return false;
  return [nbf, iat].every(
    (start) => start === undefined || (typeof start === "number" && start <= nowSeconds + leewaySeconds),
  );
}

const maxDepth = 32;

/**
 * Reads JSON so that no two readers can understand it differently: each name once, bounded depth, clean texts. Null
 * for anything else than an object that keeps these rules.
 */
function readStrictObject(json: string): JsonObject | null {
  const value = parse(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return isUnambiguous(json) && isClean(value as JsonObject) ? (value as JsonObject) : null;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** `JSON.parse` keeps the last of several members with one name, other readers the first. The JSON must be valid. */
function isUnambiguous(json: string): boolean {
  /** The names so far in each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  for (const [text, colon] of json.matchAll(token)) {
    if (colon !== undefined) {
      const name: string = JSON.parse(text.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) return false;
      names?.add(name);
    } else if (text === "{" || text === "[") {
      if (open.push(text === "{" ? new Set() : null) > maxDepth) return false;
    } else if (text === "}" || text === "]") {
      open.pop();
    }
  }
  return true;
}
