/** A website's side of verified visitors: its keys, and tokens signed by a library that is not ours. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { VisitorKeyAlgorithm } from "../../src/domain/visitor.ts";
import { apiClient } from "./api-client.ts";

export interface WebsiteKey {
  id: string;
  algorithm: VisitorKeyAlgorithm;
  signWith: CryptoKey | Uint8Array;
}

export interface TokenOptions {
  /** By default the key's own. */
  algorithm?: string;
  /** By default the key's id; null: none. */
  keyId?: string | null;
  header?: Record<string, unknown>;
}

/** Creates the key by the API, as a website's backend does, with a management key. */
export async function createWebsiteKey(
  url: string,
  apiKey: string,
  algorithm: VisitorKeyAlgorithm = "HS256",
  metadata: object | null = null,
): Promise<WebsiteKey> {
  const { body, privateKey } = await prepareKey(algorithm);
  const response = await apiClient(url, apiKey).call("POST", "/api/visitor-keys", { name: "shop", metadata, ...body });
  if (response.status !== 201) throw new Error(`no visitor key: ${response.text}`);
  const { id, secret } = response.json;
  return { id, algorithm, signWith: privateKey ?? new TextEncoder().encode(String(secret)) };
}

export async function prepareKey(algorithm: VisitorKeyAlgorithm) {
  if (algorithm === "HS256") return { body: { algorithm }, privateKey: null };
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { body: { algorithm, public_jwk: await exportJWK(publicKey) }, privateKey };
}

/** A good token of an hour for the companion, unless `claims` change that; an undefined claim is left out. */
export function signToken(
  key: WebsiteKey,
  companionId: string,
  claims: JWTPayload = {},
  { algorithm = key.algorithm, keyId = key.id, header = {} }: TokenOptions = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ aud: companionId, sub: "customer-42", exp: now + 3600, ...claims })
    .setProtectedHeader({ alg: algorithm, ...(keyId === null ? {} : { kid: keyId }), ...header })
    .sign(key.signWith);
}
