/** Whether a disk has room for what is about to be written to it. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../domain/errors.ts";

const mebibyte = 1024 * 1024;
/** Left for whatever else writes there: with less, the server soon refuses to store messages. */
const spareBytes = 64 * mebibyte;

/** Throws `unavailable` with a sentence. */
export function requireSpace(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const freeBytes = bavail * bsize;
  if (bytes + spareBytes <= freeBytes) return;
  const [needed, free] = [Math.ceil((bytes + spareBytes) / mebibyte), Math.floor(freeBytes / mebibyte)];
  throw new AppError(
    "unavailable",
    `It needs ${needed} MiB on the disk of the data directory, where ${free} MiB are free. Free some space.`,
  );
}
