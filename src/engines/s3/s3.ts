/** Backups in S3 and what speaks its protocol. The bucket is part of the path, not of the host's name. */
import {
  type BackupStorage,
  StorageFailure,
  type StorageLocation,
  type StoredObject,
} from "../../contracts/backup-storage.ts";
import { isRefusedWith, noS3 } from "./s3-failures.ts";
import { createS3Requests, type S3Timing } from "./s3-requests.ts";
import { uploadToS3 } from "./s3-upload.ts";
import { findText, type XmlElement } from "./xml-reader.ts";

export type { S3Timing };

const defaults: S3Timing = { requestMs: 60_000, partMs: 300_000, pauseMs: 1000 };
const mebibyte = 1024 * 1024;
/** How much is fetched with one request. */
const rangeBytes = 4 * mebibyte;
/** S3 takes at most 10,000 parts. */
const maxParts = 9000;
const maxPages = 100;

export function createS3(location: StorageLocation, timing: Partial<S3Timing> = {}): BackupStorage {
  const { prefix } = location;
  const ask = createS3Requests(location, { ...defaults, ...timing });

  return {
    async list(start) {
      const found: StoredObject[] = [];
      let token: string | null = null;
      for (let page = 0; page < maxPages; page++) {
        const from: Record<string, string> = token === null ? {} : { "continuation-token": token };
        const query = { "list-type": "2", prefix: prefix + start, ...from };
        const { document: listed } = await ask({ method: "GET", query, hasDocument: true });
        if (listed.name !== "ListBucketResult") throw noS3();
        for (const element of listed.children) {
          if (element.name !== "Contents") continue;
          const { key, bytes, storedAtMs } = readObject(element);
          if (key.startsWith(prefix)) found.push({ name: key.slice(prefix.length), bytes, storedAtMs });
        }
        if (findText(listed, "IsTruncated") !== "true") return found;
        // A partial list would pass for all: for backups that are missing, and for names that are free.
        const next = findText(listed, "NextContinuationToken");
        if (next === null || next === token) break;
        token = next;
      }
      throw new StorageFailure(
        "The storage's list of what is there does not end, or holds more than 100,000 objects. Check " +
          "COMPANIOND_BACKUP_S3_ENDPOINT, and set COMPANIOND_BACKUP_S3_PREFIX to a prefix that is used for backups only.",
        false,
      );
    },

    async put(name, content, { maxBytes, signal }) {
      const partBytes = Math.max(8 * mebibyte, Math.ceil(maxBytes / maxParts / mebibyte) * mebibyte);
      await uploadToS3(ask, { key: prefix + name, content, partBytes, signal });
    },

    async find(name) {
      const answer = await ask({ method: "HEAD", key: prefix + name }).catch(nullIfMissing);
      if (answer === null) return null;
      const { headers } = answer;
      return {
        name,
        bytes: readSize(headers.get("content-length")),
        storedAtMs: readTime(headers.get("last-modified")),
      };
    },

    async *get(name, bytes) {
      for (let at = 0; at < bytes; at += rangeBytes) {
        const end = Math.min(bytes, at + rangeBytes);
        const headers = { range: `bytes=${at}-${end - 1}` };
        yield (await ask({ method: "GET", key: prefix + name, headers, answerBytes: end - at })).body;
      }
    },

    async remove(name) {
      await ask({ method: "DELETE", key: prefix + name }).catch(nullIfMissing);
    },
  };
}

function nullIfMissing(failure: unknown): null {
  if (isRefusedWith(failure, "NoSuchKey")) return null;
  throw failure;
}

function readObject(element: XmlElement): { key: string; bytes: number; storedAtMs: number } {
  const key = findText(element, "Key") ?? "";
  return { key, bytes: readSize(findText(element, "Size")), storedAtMs: readTime(findText(element, "LastModified")) };
}

function readSize(text: string | null): number {
  if (text !== null && /^\d{1,15}$/.test(text)) return Number(text);
  throw noS3();
}

function readTime(text: string | null): number {
  return Date.parse(text ?? "") || 0;
}
