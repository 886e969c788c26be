/** The keys that verify visitor tokens: made, read from JWKs, imported, and kept imported. */
import type { VisitorKey } from "../../contracts/store/store.ts";
import type { FieldError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { VisitorKeyAlgorithm } from "../../domain/visitor.ts";
import { isOnP256, judgeEd25519Key } from "../../lib/curves.ts";
import type { Sealing } from "../../lib/sealing.ts";

const secretBytes = 32;
const coordinateBytes = 32;
const signatureBytes = 64;

/** A public key without anything that does not define it. */
export type PublicJwk = { kty: "EC"; crv: "P-256"; x: string; y: string } | { kty: "OKP"; crv: "Ed25519"; x: string };

/** Members of private and symmetric keys (RFC 7518, 6.2.2, 6.3.2 and 6.4; RFC 8037, 2). */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

/** As WebCrypto names them. */
interface Algorithm {
  readonly imported: { name: "HMAC"; hash: "SHA-256" } | { name: "ECDSA"; namedCurve: "P-256" } | { name: "Ed25519" };
  readonly verified: { name: "HMAC" } | { name: "ECDSA"; hash: "SHA-256" } | { name: "Ed25519" };
}

const algorithms: Readonly<Record<VisitorKeyAlgorithm, Algorithm>> = {
  HS256: { imported: { name: "HMAC", hash: "SHA-256" }, verified: { name: "HMAC" } },
  ES256: { imported: { name: "ECDSA", namedCurve: "P-256" }, verified: { name: "ECDSA", hash: "SHA-256" } },
  EdDSA: { imported: { name: "Ed25519" }, verified: { name: "Ed25519" } },
};

/** A secret for HS256: websites use the whole text as the key. */
export function makeSecret(bytes: (length: number) => Uint8Array): string {
  return `vsk_${bytes(secretBytes).toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

/** What is sealed and stored of a key: the secret, or the public key as JSON. */
export function importKey(algorithm: VisitorKeyAlgorithm, material: string): Promise<CryptoKey> {
  const { imported } = algorithms[algorithm];
  return algorithm === "HS256"
    ? crypto.subtle.importKey("raw", new TextEncoder().encode(material), imported, false, ["verify"])
    : crypto.subtle.importKey("jwk", JSON.parse(material), imported, false, ["verify"]);
}

export async function isSignedWith(
  algorithm: VisitorKeyAlgorithm,
  key: CryptoKey,
  { signature, signed }: { signature: Uint8Array<ArrayBuffer>; signed: Uint8Array<ArrayBuffer> },
): Promise<boolean> {
  // Both halves at their full length (RFC 7518, 3.4): a signature has one form.
  if (algorithm !== "HS256" && signature.length !== signatureBytes) return false;
  return await crypto.subtle.verify(algorithms[algorithm].verified, key, signature, signed);
}

/** The public key of a JWK (RFC 7517), or what is wrong with it, by member. */
export async function readPublicJwk(
  algorithm: Exclude<VisitorKeyAlgorithm, "HS256">,
  sent: JsonObject,
): Promise<PublicJwk | FieldError[]> {
  const secret = privateMembers.filter((member) => Object.hasOwn(sent, member));
  if (secret.length > 0) {
    return secret.map((member) => fault(member, "This is part of a private key: send the public key alone."));
  }
  const { x, y, alg = algorithm } = sent;
  const errors: FieldError[] = [];
  if (alg !== algorithm && !(algorithm === "EdDSA" && alg === "Ed25519")) {
    errors.push(fault("alg", `Must be ${algorithm}, or left out.`));
  }
  const expected =
    algorithm === "ES256" ? ({ kty: "EC", crv: "P-256" } as const) : ({ kty: "OKP", crv: "Ed25519" } as const);
  for (const member of ["kty", "crv"] as const) {
    if (sent[member] !== expected[member]) errors.push(fault(member, `Must be ${expected[member]} for ${algorithm}.`));
  }
  const coordinates = { x, ...(expected.kty === "EC" ? { y } : {}) };
  for (const [member, value] of Object.entries(coordinates)) {
    if (!isCoordinate(value)) errors.push(fault(member, `Must be ${coordinateBytes} bytes in base64url.`));
  }
  if (errors.length > 0) return errors;
  const jwk = { ...expected, ...coordinates } as PublicJwk;
  const verdict = jwk.kty === "OKP" ? judgeEd25519Key(toBytes(jwk.x)) : "good";
  if (verdict === "weak") return [fault("x", "Anybody can sign for this key. Make a new pair of keys.")];
  try {
    if (verdict === "off") throw new RangeError("not on the curve");
    if (jwk.kty === "EC" && !isOnP256(toBytes(jwk.x), toBytes(jwk.y))) throw new RangeError("not on the curve");
    await importKey(algorithm, JSON.stringify(jwk));
    return jwk;
  } catch {
    return [{ param: "public_jwk", detail: "Is not a point on its curve." }];
  }
}

function toBytes(coordinate: string): Uint8Array {
  return Uint8Array.fromBase64(coordinate, { alphabet: "base64url" });
}

function fault(member: string, detail: string): FieldError {
  return { param: `public_jwk.${member}`, detail };
}

function isCoordinate(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{43}$/.test(value);
}

const maxKept = 1000;

/** The name under which a key is sealed: of one account, so that no row can be moved to another. */
export function sealedKeyName(accountId: string, keyId: string): string {
  return `visitor-key:${accountId}:${keyId}`;
}

/** Opening and importing a key takes longer than verifying with it. No verdict is kept. */
export class ImportedKeys {
  /** By id; a row that holds something else is another key. */
  readonly #kept = new Map<string, { sealed: string; imported: Promise<CryptoKey> }>();

  constructor(private readonly sealing: Sealing) {}

  /** Rejects if the key cannot be opened. */
  get(accountId: string, { id, algorithm, sealed }: VisitorKey): Promise<CryptoKey> {
    const known = this.#kept.get(id);
    if (known?.sealed === sealed) return known.imported;
    const imported = this.sealing
      .open(sealedKeyName(accountId, id), sealed)
      .then((material) => importKey(algorithm, material));
    imported.catch(() => this.#kept.delete(id));
    this.#kept.set(id, { sealed, imported });
    const [first = id] = this.#kept.keys();
    if (this.#kept.size > maxKept) this.#kept.delete(first);
    return imported;
  }
}
