/** Reads files that the configuration names, and names them as their editor knows them. */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** Far more than any of them needs. A device has no end. */
const maxBytes = 16 * 1024 * 1024;

/** The text, or why it cannot be read: see `describeFileError`. */
export function readText(filePath: string): string | Error {
  try {
    return readBounded(filePath);
  } catch (error) {
    return Object.assign(error instanceof Error ? error : new Error(String(error)), { path: filePath });
  }
}

/** Also of a pipe, which reports no size: that is how shells pass secrets. */
function readBounded(filePath: string): string {
  const file = openSync(filePath, "r");
  try {
    const pieces: Buffer[] = [];
    for (let left = maxBytes; left >= 0; ) {
      const piece = Buffer.allocUnsafe(64 * 1024);
      const length = readSync(file, piece, { length: piece.length });
      if (length === 0) return Buffer.concat(pieces).toString("utf8");
      pieces.push(piece.subarray(0, length));
      left -= length;
    }
    throw Object.assign(new Error(), { code: "EFBIG" });
  } finally {
    closeSync(file);
  }
}

const fileErrors: Record<string, string> = {
  ENOENT: "there is no such file",
  EACCES: "the file may not be read",
  EISDIR: "it is a directory",
  ELOOP: "its links lead in a circle",
  EFBIG: `it is larger than ${maxBytes / 1024 / 1024} MiB`,
};

export function describeFileError({ code = "", message, path = "" }: Error & { code?: string; path?: string }): string {
  return `${fileErrors[code] ?? message}: ${path}${explainCredential(path)}`;
}

/** Most files end with a line break that belongs to nothing in them. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** Where the unit that we ship takes credentials from, each under its own name. */
const shippedFolder = "/etc/companiond";

/**
 * What systemd hands to a service as a credential is a copy that is gone with it, and the service does not learn of
 * what. The path itself, unless it is a credential's.
 */
export function nameForOperator(path: string, folder = shippedFolder): string {
  const credential = findCredential(path);
  if (credential === null) return path;
  const source = join(folder, credential);
  return existsSync(source) ? source : `${path} (${describeSource(credential)})`;
}

/** What to add to a path that cannot be read; empty unless it is a credential's. */
export function explainCredential(path: string): string {
  const credential = findCredential(path);
  return credential === null ? "" : ` (${describeSource(credential)})`;
}

function describeSource(credential: string): string {
  return `systemd's copy of what LoadCredential=${credential}: names in the unit`;
}

function findCredential(path: string): string | null {
  return /^\/run\/(?:user\/\d+\/)?credentials\/[^/]+\/([^/]+)$/.exec(path)?.[1] ?? null;
}
