/** What every storage of backups must do. */
import { describe, expect, test } from "bun:test";
import type { BackupStorage } from "../../src/contracts/backup-storage.ts";
import { eventually } from "../support/eventually.ts";

export async function* pieces(bytes: number, pieceBytes = 65_536): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes; at += pieceBytes) {
    yield new Uint8Array(Math.min(pieceBytes, bytes - at)).fill(Math.floor(at / pieceBytes) % 251);
  }
}

async function read(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(content));
}

async function putText(storage: BackupStorage, name: string, text: string): Promise<void> {
  await storage.put(name, new Blob([text]).stream(), { maxBytes: text.length });
}

/** `open` makes an empty storage; `findLeft` lists what is in it beside whole objects. */
export function testBackupStorageContract(
  engine: string,
  open: () => Promise<AsyncDisposable & { storage: BackupStorage; findLeft(): string[] }>,
): void {
  describe(`storage of backups: ${engine}`, () => {
    test("holds what is put there, lists it by its beginning, and gives it back", async () => {
      await using world = await open();
      const { storage } = world;
      await putText(storage, "companiond-a", "first");
      await putText(storage, "companiond-b", "second");
      await putText(storage, "other", "third");
      const listed = await storage.list("companiond-");
      expect(listed.map(({ name, bytes }) => ({ name, bytes })).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: "companiond-a", bytes: 5 },
        { name: "companiond-b", bytes: 6 },
      ]);
      expect(listed.every(({ storedAtMs }) => storedAtMs > Date.UTC(2020))).toBe(true);
      expect(Buffer.from(await read(storage.get("companiond-b", 6))).toString()).toBe("second");
      expect(await storage.find("companiond-a")).toMatchObject({ name: "companiond-a", bytes: 5 });
    });

    test("knows nothing of what is not there, and removes it without complaint", async () => {
      await using world = await open();
      expect(await world.storage.find("companiond-a")).toBeNull();
      expect(await world.storage.list("companiond-")).toEqual([]);
      await world.storage.remove("companiond-a");
      await putText(world.storage, "companiond-a", "first");
      await world.storage.remove("companiond-a");
      expect(await world.storage.find("companiond-a")).toBeNull();
    });

    test("takes what is larger than a part, and gives it back the same", async () => {
      await using world = await open();
      const bytes = 18 * 1024 * 1024 + 5;
      await world.storage.put("companiond-large", pieces(bytes), { maxBytes: bytes });
      const found = await world.storage.find("companiond-large");
      expect(found?.bytes).toBe(bytes);
      const hash = Bun.SHA256.hash(await read(world.storage.get("companiond-large", bytes)), "hex");
      expect(hash).toBe(Bun.SHA256.hash(await read(pieces(bytes)), "hex"));
      await eventually(() => world.findLeft().length === 0);
    });

    test.each([1, 20])(
      "keeps nothing of content that breaks off after %d MiB, and says why it did",
      async (mebibytes) => {
        await using world = await open();
        async function* broken() {
          yield* pieces(mebibytes * 1024 * 1024);
          throw new Error("the disk broke");
        }
        const putting = world.storage.put("companiond-a", broken(), { maxBytes: 64 * 1024 * 1024 });
        await expect(putting).rejects.toThrow("the disk broke");
        expect(await world.storage.find("companiond-a")).toBeNull();
        await eventually(() => world.findLeft().length === 0);
      },
    );

    test("keeps nothing of content whose sending is stopped", async () => {
      await using world = await open();
      const stopping = new AbortController();
      async function* endless() {
        for (let sent = 0; ; sent++) {
          yield* pieces(1024 * 1024);
          if (sent === 20) stopping.abort(new Error("stopped"));
        }
      }
      const { signal } = stopping;
      const putting = world.storage.put("companiond-a", endless(), { maxBytes: 64 * 1024 * 1024, signal });
      await expect(putting).rejects.toThrow("stopped");
      expect(await world.storage.find("companiond-a")).toBeNull();
      await eventually(() => world.findLeft().length === 0);
    });

    test("fails where it holds less than is asked for", async () => {
      await using world = await open();
      await putText(world.storage, "companiond-a", "first");
      await expect(read(world.storage.get("companiond-a", 6))).rejects.toThrow("5 of 6 bytes");
    });
  });
}
