/** Signs a visitor's token in this browser, for trying one out; the secret is neither sent nor kept. */

export interface TokenFacts {
  secret: string;
  /** Null where the account has one key alone. */
  keyId: string | null;
  companionId: string;
  sub: string;
  name: string;
  email: string;
}

const lifetimeSeconds = 3600;

/** Browsers offer cryptography only where the page came encrypted, or from this machine. */
export function canSign(): boolean {
  return globalThis.crypto.subtle !== undefined;
}

export async function signVisitorToken({ secret, keyId, companionId, ...visitor }: TokenFacts): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const known = Object.fromEntries(Object.entries(visitor).filter(([, value]) => value !== ""));
  const header = { alg: "HS256", typ: "JWT", ...(keyId !== null && { kid: keyId }) };
  const claims = { aud: companionId, ...known, iat: now, exp: now + lifetimeSeconds };
  const content = [header, claims].map((part) => toBase64Url(encode(JSON.stringify(part)))).join(".");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encode(secret), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, encode(content));
  return `${content}.${toBase64Url(new Uint8Array(signature))}`;
}

/** Whom a token is about; null if it is none. Nothing of it is checked: that is the server's part. */
export function readVisitorName(token: string): string | null {
  try {
    const part = (token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
    const { name, email, sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === "string" ? String(name || email || sub) : null;
  } catch {
    return null;
  }
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}
