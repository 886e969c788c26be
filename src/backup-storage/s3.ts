/**
 * Backups in S3 and what speaks its protocol, by Bun's own client. Where a setting is not given, that client takes
 * AWS's and S3's variables from the environment of the process, even a session token of somebody else's: it may only run
 * in a process whose environment has none of them.
 */
import { S3Client } from "bun";
import { codeOf } from "../lib/error-code.ts";
import { watchContent } from "./s3-content.ts";
import { lateFailure, toStorageFailure } from "./s3-failures.ts";
import { type BackupStorage, StorageFailure, type StoragePlace, type StoredObject } from "./storage.ts";

export interface S3Timing {
  /** For a request that sends or fetches little. */
  requestMs: number;
  /** Without any progress, sending ends. A slow line needs the time for some parts. */
  idleMs: number;
  /** Before the second try; twice as long before the next. */
  pauseMs: number;
}

const defaults: S3Timing = { requestMs: 60_000, idleMs: 300_000, pauseMs: 1000 };
const tries = 4;
const mebibyte = 1024 * 1024;
/** How much is fetched at once. */
const rangeBytes = 4 * mebibyte;
/** S3 takes at most 10,000 parts. */
const mostParts = 9000;
const mostPages = 100;

export function createS3(place: StoragePlace, timing: Partial<S3Timing> = {}): BackupStorage {
  const { requestMs, idleMs, pauseMs } = { ...defaults, ...timing };
  const { bucket, prefix, keyId: accessKeyId, secret: secretAccessKey } = place;
  // What most take that know no regions, and AWS's default.
  const region = place.region ?? "us-east-1";
  const endpoint = place.endpoint ?? `https://s3.${region}.amazonaws.com`;
  const client = new S3Client({ endpoint, region, bucket, accessKeyId, secretAccessKey });

  async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let failed = 1; ; failed++) {
      try {
        return await within(work(), requestMs);
      } catch (error) {
        const failure = toStorageFailure(error);
        if (!failure.isPassing || failed === tries) throw failure;
        await Bun.sleep(pauseMs * 2 ** (failed - 1));
      }
    }
  }

  return {
    async list(start) {
      const found: StoredObject[] = [];
      let continuationToken: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const from = continuationToken === undefined ? {} : { continuationToken };
        const listed = await attempt(() => client.list({ prefix: prefix + start, ...from }));
        for (const { key, size, lastModified } of listed.contents ?? []) {
          if (!key.startsWith(prefix)) continue;
          const storedAtMs = Date.parse(lastModified ?? "") || 0;
          found.push({ name: key.slice(prefix.length), bytes: size ?? 0, storedAtMs });
        }
        if (listed.isTruncated !== true) return found;
        // A part would be taken for all: for backups that are missing, and for names that are free.
        const next = listed.nextContinuationToken;
        if (next === undefined || next === continuationToken) break;
        continuationToken = next;
      }
      throw new StorageFailure(
        "The storage's list of what is there does not end, or holds more than 100,000 objects. Check " +
          "COMPANIOND_BACKUP_S3_ENDPOINT, and set COMPANIOND_BACKUP_S3_PREFIX to a place that is for backups alone.",
        false,
      );
    },

    async put(name, content, { maxBytes, signal }) {
      const watched = watchContent(content, idleMs, signal);
      const partSize = Math.max(8 * mebibyte, Math.ceil(maxBytes / mostParts / mebibyte) * mebibyte);
      const options = { partSize, queueSize: 2, retry: 3, type: "application/octet-stream" };
      try {
        // Not its writer, which completes the object even when it is ended with an error.
        await Promise.race([client.write(prefix + name, new Response(watched.stream), options), watched.failed]);
      } catch (error) {
        // The client asks the storage to drop the parts only after it has thrown, and the process may be about to end.
        await Bun.sleep(pauseMs);
        throw watched.findReason() ?? toStorageFailure(error);
      } finally {
        watched.end();
      }
    },

    async find(name) {
      const facts = await attempt(() => client.stat(prefix + name).catch(nullIfMissing));
      return facts === null ? null : { name, bytes: facts.size, storedAtMs: facts.lastModified.getTime() };
    },

    async *get(name, bytes) {
      const file = client.file(prefix + name);
      for (let at = 0; at < bytes; at += rangeBytes) {
        const end = Math.min(bytes, at + rangeBytes);
        yield await attempt(async () => {
          const piece = await file.slice(at, end).bytes();
          if (piece.length === end - at) return piece;
          throw new StorageFailure(`The storage gave ${piece.length} of ${end - at} bytes of ${name}.`, true);
        });
      }
    },

    async remove(name) {
      await attempt(() => client.delete(prefix + name).catch(nullIfMissing));
    },
  };
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === "NoSuchKey") return null;
  throw error;
}

/** The client cannot be told to stop; what it still does then is nobody's. */
function within<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(lateFailure(limitMs)), limitMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
