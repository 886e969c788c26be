/** Signs requests by Standard Webhooks 1.0: its secrets, and the headers of a signed body. */

const prefix = "whsec_";
const madeBytes = 32;

/** A new secret as its receiver keeps it; `bytes` makes random ones. */
export function makeWebhookSecret(bytes: (length: number) => Uint8Array): string {
  return prefix + bytes(madeBytes).toBase64();
}

/** The key that the secret is for HMAC; throws if it is none: 24 to 64 bytes as base64, with or without the prefix. */
export function readWebhookSecret(secret: string): Uint8Array {
  const key = Uint8Array.fromBase64(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  if (key.length < 24 || key.length > 64) throw new Error("a webhook secret has 24 to 64 bytes");
  return key;
}

/** A request to sign: its body exactly as it is sent. */
export interface SignedContent {
  /** The same at every attempt, so that a receiver can leave out what it has already; without a dot. */
  id: string;
  /** Of this attempt: receivers refuse requests that are old. */
  sentAtMs: number;
  body: string;
}

export function signWebhook(secret: string, { id, sentAtMs, body }: SignedContent) {
  const seconds = String(Math.floor(sentAtMs / 1000));
  const hmac = new Bun.CryptoHasher("sha256", readWebhookSecret(secret)).update(`${id}.${seconds}.${body}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${hmac.digest("base64")}`,
  };
}
