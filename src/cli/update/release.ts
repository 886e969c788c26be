/** A release's description of itself, and whether it is signed by the key that this executable trusts. */
import { isJsonObject, parseJsonObject } from "../../domain/json.ts";
import { isLoopbackHost } from "../../lib/loopback.ts";
import { CommandFailure } from "../command.ts";

export interface Release {
  readonly version: string;
  readonly url: URL;
  /** Of the executable, in lower-case hex; proven by the signature. */
  readonly sha256: string;
}

export interface ReleaseQuestion {
  /** Such as `linux-x64`. */
  readonly target: string;
  /** Ed25519: 32 bytes in base64. */
  readonly publicKey: string;
  /** Where the document came from; the executable's URL may be relative to it. */
  readonly source: URL;
}

/** Semantic versions, also with a part such as `-rc.1`. */
export const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,60})?$/;
const sha256Pattern = /^[0-9a-f]{64}$/;
const signaturePattern = /^[A-Za-z0-9+/]{86}(==)?$/;
/** What turns 32 raw bytes into the DER form of an Ed25519 public key (RFC 8410). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Throws `CommandFailure` with a sentence. */
export function readRelease(text: string, { target, publicKey, source }: ReleaseQuestion): Release {
  const refuse = (reason: string) => new CommandFailure(`${source.href} ${reason} Nothing has changed.`);
  const document = parseJsonObject(text);
  if (document === null) throw refuse("is not the description of a release.");
  const { version, targets } = document;
  if (typeof version !== "string" || !versionPattern.test(version)) throw refuse("names no version.");
  if (!isJsonObject(targets) || !Object.hasOwn(targets, target)) throw refuse(`has no executable for ${target}.`);
  const offer = targets[target];
  if (!isJsonObject(offer)) throw refuse(`has no executable for ${target}.`);
  const { url, sha256, signature } = offer;
  if (typeof signature !== "string" || signature === "") throw refuse(`is not signed: ${version} is refused.`);
  if (typeof sha256 !== "string" || !sha256Pattern.test(sha256)) throw refuse("names no SHA-256 sum.");
  if (!isSignedBy(publicKey, `companiond\n${version}\n${target}\n${sha256}\n`, signature)) {
    throw refuse(`is not signed with the key of these releases: ${version} is refused.`);
  }
  const at = typeof url === "string" ? URL.parse(url, source.href) : null;
  if (at === null) throw refuse("does not name the executable's address.");
  return { version, url: requireSafe(at), sha256 };
}

/** Throws `CommandFailure` unless no one in between can read or change what is fetched. */
export function requireSafe(url: URL): URL {
  const isPlain = url.protocol === "http:" && isLoopbackHost(url.host);
  if ((url.protocol === "https:" || isPlain) && url.username === "" && url.password === "") return url;
  throw new CommandFailure(
    `${url.protocol}//${url.host} is not a safe source: releases are fetched over https, without a password in the URL.`,
  );
}

function isSignedBy(publicKey: string, message: string, signature: string): boolean {
  if (!signaturePattern.test(signature)) return false;
  // Loaded on demand: no other command needs it.
  const { createPublicKey, verify } = process.getBuiltinModule("node:crypto");
  const der = Buffer.concat([derPrefix, Buffer.from(publicKey, "base64")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(message), key, Buffer.from(signature, "base64"));
}
