/**
 * Names files as whoever edits them knows them. What systemd hands to a service as a credential is a copy that is gone with
 * it, and the service is not told of what.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where the unit that we ship takes credentials from, each under its own name. */
const shippedFolder = "/etc/companiond";

/** The path itself, unless it is a credential's. */
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
