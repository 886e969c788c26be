/** Encrypts secrets at rest that must be readable again: AES-256-GCM (NIST SP 800-38D), each bound to its name. */

/** Encrypts and decrypts, with any key. */
export interface Sealing {
  /** `name` identifies the secret and its owner; opening needs the same name. */
  seal(name: string, text: string): Promise<string>;
  /** Rejects if the text was sealed with another key or name, or was changed. */
  open(name: string, sealed: string): Promise<string>;
  /**
   * A keyed digest of the text (HMAC-SHA-256, base64url): the same for the same name and text, and of no use to anyone
   * without the key.
   */
  digest(name: string, text: string): Promise<string>;
}

/** Null where it cannot be opened: words of people must not fail what else is read once the key is lost. */
export async function openOrNull(
  sealing: Pick<Sealing, "open">,
  name: string,
  sealed: string | null,
): Promise<string | null> {
  return sealed === null ? null : await sealing.open(name, sealed).catch(() => null);
}

const version = "v1.";
const keyBytes = 32;
const ivBytes = 12;

/** A 32-byte key from base64, as `openssl rand -base64 32` prints it; null for any other text. */
export function readSealingKey(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9A-Za-z+/]{43}=?$/.test(text)) return null;
  const bytes = Uint8Array.fromBase64(text);
  return bytes.length === keyBytes ? bytes : null;
}

export function makeSealingKey(): string {
  return crypto.getRandomValues(new Uint8Array(keyBytes)).toBase64();
}

export async function createSealing(key: Uint8Array<ArrayBuffer>): Promise<Sealing> {
  const imported = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
  const digestKey = await deriveDigestKey(key);
  const algorithm = (iv: Uint8Array<ArrayBuffer>, name: string) => ({
    name: "AES-GCM",
    iv,
    additionalData: new TextEncoder().encode(name),
  });
  return {
    async seal(name, text) {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const sealed = await crypto.subtle.encrypt(algorithm(iv, name), imported, new TextEncoder().encode(text));
      return version + new Uint8Array([...iv, ...new Uint8Array(sealed)]).toBase64({ alphabet: "base64url" });
    },
    async digest(name, text) {
      const bytes = new TextEncoder().encode(`${name}\n${text}`);
      return new Uint8Array(await crypto.subtle.sign("HMAC", digestKey, bytes)).toBase64({
        alphabet: "base64url",
        omitPadding: true,
      });
    },
    async open(name, sealed) {
      if (!sealed.startsWith(version)) throw new Error("unknown sealing version");
      const bytes = Uint8Array.fromBase64(sealed.slice(version.length), { alphabet: "base64url" });
      const iv = bytes.slice(0, ivBytes);
      const text = await crypto.subtle.decrypt(algorithm(iv, name), imported, bytes.slice(ivBytes));
      return new TextDecoder().decode(text);
    },
  };
}

/** A key of its own, since the same one must not be used for two purposes (HKDF, RFC 5869). */
async function deriveDigestKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", key, "HKDF", false, ["deriveKey"]);
  const derivation = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: new TextEncoder().encode("companiond digest"),
  };
  return crypto.subtle.deriveKey(derivation, material, { name: "HMAC", hash: "SHA-256", length: 256 }, false, ["sign"]);
}
