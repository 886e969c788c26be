/**
 * Uploads one backup: packed, stored, read back, and only then its checksum beside it, which makes it a good one. After
 * that the oldest are removed there.
 */
import { statSync } from "node:fs";
import { type BackupStorage, StorageFailure } from "../../contracts/backup-storage.ts";
import { dayMs } from "../../lib/instant.ts";
import { type Catalog, readCatalog, toStoredName, toSumsName } from "./names.ts";
import { packBackup, type Sums, sumBytes, writeSums } from "./packing.ts";

export interface Upload {
  /** A complete backup, which no longer changes. */
  file: string;
  /** From its name. */
  madeAtMs: number;
  /** How many good ones are kept there. */
  keep: number;
  ageRecipient: string | null;
  nowMs: number;
}

export interface Uploaded {
  name: string;
  /** Of the stored object. */
  bytes: number;
  sha256: string;
  removed: string[];
  /** Why older ones could not be removed; null if they were. */
  rotationProblem: string | null;
}

/** Before it is tried a second time, as a whole. */
const pauseMs = 10_000;

/** Rejects with `StorageFailure` or `invalid_request`; then no object of that name is left, as far as that can be had. */
export async function uploadBackup(storage: BackupStorage, upload: Upload, stop: AbortSignal): Promise<Uploaded> {
  const { file, keep, nowMs, ageRecipient } = upload;
  const name = chooseName(await readCatalog(storage), upload.madeAtMs, ageRecipient !== null);
  const fileBytes = statSync(file).size;
  const send = async () => {
    const sums = await store(storage, name, await packBackup(file, fileBytes, ageRecipient), fileBytes, stop);
    await requireSame(storage, name, sums);
    return sums;
  };
  let sums: Sums;
  try {
    sums = await send().catch(async (error) => {
      if (!(error instanceof StorageFailure && error.isPassing) || stop.aborted) throw error;
      await Bun.sleep(pauseMs);
      return await send();
    });
    const line = writeSums(name, sums);
    await storage.put(toSumsName(name), once(line), { maxBytes: line.length, signal: stop });
  } catch (error) {
    // Without its checksum it counts for nothing, and a later success removes it; this only spares the space. The
    // checksum may be there although its answer was lost, and alone would stay for ever.
    await storage.remove(toSumsName(name)).catch(() => {});
    await storage.remove(name).catch(() => {});
    throw error;
  }
  const { removed, problem } = await removeOldest(storage, { made: name, keep, nowMs });
  return { name, ...sums, removed, rotationProblem: problem };
}

/** Named after its second, or the next free one: nothing that is there is written over. */
function chooseName(catalog: Catalog, madeAtMs: number, isEncrypted: boolean): string {
  const name = toStoredName(madeAtMs, isEncrypted);
  const isTaken = catalog.names.has(name) || catalog.names.has(toSumsName(name));
  return isTaken ? chooseName(catalog, madeAtMs + 1000, isEncrypted) : name;
}

async function store(
  storage: BackupStorage,
  name: string,
  packed: AsyncIterable<Uint8Array>,
  fileBytes: number,
  signal: AbortSignal,
): Promise<Sums> {
  const counted = sumBytes(packed);
  // What cannot be compressed grows by a little: blocks' heads, and 16 bytes for each 64 KiB encrypted.
  await storage.put(name, counted.content, { maxBytes: fileBytes + Math.ceil(fileBytes / 1000) + 65_536, signal });
  return counted.read();
}

/** What was sent may have been changed in transit, or be stored in part. */
async function requireSame(storage: BackupStorage, name: string, sent: Sums): Promise<void> {
  const differs = new StorageFailure("What the storage returns is not what was uploaded. Try again later.", true);
  let found = await storage.find(name);
  // Some answer before the last of it can be read.
  for (let ms = 100; found?.bytes !== sent.bytes && ms < 3000; ms *= 2) {
    await Bun.sleep(ms);
    found = await storage.find(name);
  }
  if (found?.bytes !== sent.bytes) throw differs;
  const given = sumBytes(storage.get(name, found.bytes));
  for await (const _ of given.content) {
    // Only its sum is of interest.
  }
  if (given.read().sha256 !== sent.sha256) throw differs;
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

interface Rotation {
  /** The one just made, which is kept regardless of the others' names. */
  made: string;
  keep: number;
  nowMs: number;
}

interface Rotated {
  removed: string[];
  /** Null if all that should go is gone. */
  problem: string | null;
}

/**
 * Keeps the newest good backups in the storage, and removes what interrupted uploads have left. Only after a success:
 * while backups fail, the existing ones must stay. Touches nothing that is not a backup.
 */
async function removeOldest(storage: BackupStorage, { made, keep, nowMs }: Rotation): Promise<Rotated> {
  const removed: string[] = [];
  try {
    const { good, unfinished } = await readCatalog(storage);
    const madeAt = good.findIndex(({ name }) => name === made);
    if (madeAt === -1) {
      const problem = `The storage does not list ${made}, which was just uploaded. List them with companiond backups list.`;
      return { removed, problem };
    }
    // Those that claim to be newer than the one just made date from a clock that was ahead: they count as the oldest.
    const newestFirst = [...good.slice(madeAt), ...good.slice(0, madeAt)];
    for (const { name } of newestFirst.slice(keep)) {
      // In this order: interrupted between them, it is an unfinished one, and not one that seems good.
      await storage.remove(toSumsName(name));
      await storage.remove(name);
      removed.push(name);
    }
    for (const { name, storedAtMs } of unfinished) {
      // Another server's upload may be under way; none takes a day.
      if (nowMs - storedAtMs < dayMs) continue;
      await storage.remove(name);
      removed.push(name);
    }
    return { removed, problem: null };
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    return { removed, problem: error.message };
  }
}
