/** What makes a release trustworthy: Ed25519 signatures, and the description that `companiond update` reads. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";

export interface SigningKey {
  /** The public half, as the executable carries it: 32 bytes in base64. */
  publicKey: string;
  /** The public half in PEM, as OpenSSL reads it. */
  publicPem: string;
  /** In base64. */
  sign(content: string | Uint8Array): string;
}

/** Throws with a sentence for whoever runs the release. */
export function readSigningKey(file: string): SigningKey {
  const key = parseKey(file);
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`${file} has no Ed25519 key, but ${key.asymmetricKeyType}.`);
  const publicHalf = createPublicKey(key);
  return {
    publicKey: Buffer.from(publicHalf.export({ format: "jwk" }).x ?? "", "base64url").toString("base64"),
    publicPem: publicHalf.export({ format: "pem", type: "spki" }).toString(),
    sign: (content) => sign(null, Buffer.from(content), key).toString("base64"),
  };
}

function parseKey(file: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(file));
  } catch (cause) {
    const advice = "Make one with: openssl genpkey -algorithm ed25519 -out key.pem";
    throw new Error(`${file} has no private key in PEM that can be read without a password. ${advice}`, { cause });
  }
}

/** An executable of the release, by its target. */
export interface ReleasedExecutable {
  target: string;
  /** Its file name. */
  name: string;
  sha256: string;
}

/**
 * `latest.json`, and the same as `<version>.json`. The signature binds the sum to the version and the target, so that an
 * old or a foreign executable cannot be offered in place of this one. Without `baseUrl`, addresses are relative to the
 * description's own.
 */
export function describeRelease(
  version: string,
  executables: readonly ReleasedExecutable[],
  key: SigningKey,
  baseUrl: string | null,
): string {
  const targets = executables.map(({ target, name, sha256 }) => {
    const signature = key.sign(`companiond\n${version}\n${target}\n${sha256}\n`);
    return [target, { url: `${baseUrl ?? ""}${name}`, sha256, signature }];
  });
  return `${JSON.stringify({ version, targets: Object.fromEntries(targets) }, null, 2)}\n`;
}

/** With a final slash; throws unless it is HTTPS, or plain HTTP on this machine. */
export function readBaseUrl(option: string, text: string): string {
  const url = URL.parse(text);
  const isLoopback = ["127.0.0.1", "localhost", "[::1]"].includes(url?.hostname ?? "");
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) {
    throw new Error(`--${option} must be an https address.`);
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "" || /['\s\\]/.test(url.href)) {
    throw new Error(`--${option} must be a plain address, without a query, a name or a password.`);
  }
  return url.href.endsWith("/") ? url.href : `${url.href}/`;
}
