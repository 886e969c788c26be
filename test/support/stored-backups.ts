/** A data directory with one account, a storage for its backups, and commands that use both. */
import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import type { BackupStorage } from "../../src/contracts/backup-storage.ts";
import { createS3 } from "../../src/engines/s3/s3.ts";
import { type CliOutcome, runCommand, runJson } from "./cli.ts";
import { startS3, type TestS3 } from "./s3.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary.ts";

export interface BackupsWorld extends AsyncDisposable {
  s3: TestS3;
  storage: BackupStorage;
  data: TemporaryDirectory;
  /** With the storage's settings, in the data directory or another. */
  run(words: readonly string[], more?: { environment?: Record<string, string>; dataDir?: string }): Promise<CliOutcome>;
  /** The name of the backup that was uploaded. */
  upload(environment?: Record<string, string>): Promise<string>;
  /** Names in the storage, in order. */
  names(): Promise<string[]>;
  read(name: string): Promise<Buffer<ArrayBuffer>>;
  /** Stores it with its checksum, unless another is given (null: none). */
  put(name: string, bytes: Uint8Array, sums?: string | null): Promise<void>;
}

export async function startBackupsWorld(): Promise<BackupsWorld> {
  const s3 = await startS3();
  const data = temporaryDirectory();
  const storage = createS3(s3.place, { pauseMs: 10 });
  await runJson(["account", "create", "--email", "ada@example.com", "--data-dir", data.path]);
  const put = (name: string, bytes: Uint8Array) =>
    storage.put(name, new Blob([new Uint8Array(bytes)]).stream(), { maxBytes: bytes.length });
  const world: BackupsWorld = {
    s3,
    storage,
    data,
    run: (words, { environment = {}, dataDir = data.path } = {}) =>
      runCommand([...words, "--data-dir", dataDir], { environment: { ...s3.environment, ...environment } }),
    async upload(environment = {}) {
      const { exitCode, stdout, stderr } = await world.run(["backup", "s3:", "--json"], { environment });
      if (exitCode !== 0) throw new Error(stderr);
      return String(Object(JSON.parse(stdout)).name);
    },
    names: async () => (await storage.list("")).map(({ name }) => name).sort(),
    async read(name) {
      const found = await storage.find(name);
      return Buffer.concat(await Array.fromAsync(storage.get(name, found?.bytes ?? 0)));
    },
    async put(name, bytes, sums = `${Bun.SHA256.hash(bytes, "hex")}  ${name}\n`) {
      await put(name, bytes);
      if (sums !== null) await put(`${name}.sha256`, Buffer.from(sums));
    },
    async [Symbol.asyncDispose]() {
      await s3[Symbol.asyncDispose]();
      data[Symbol.dispose]();
    },
  };
  return world;
}

export async function countAccounts(dataDir: string): Promise<number> {
  const listed = await runJson(["account", "list", "--data-dir", dataDir]);
  return Array.isArray(listed) ? listed.length : Number.NaN;
}

/** What commands have left in a data directory beside the database, its log and its lock. */
export function findLeftovers(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => !/^(companiond\.db(-wal|-shm)?|serve\.lock)$/.test(name));
}

/** Bytes that cannot be compressed, in a table that nothing reads. */
export function enlarge(dataDir: string, bytes: number): void {
  const database = new Database(`${dataDir}/companiond.db`);
  database.run("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)");
  database.run("INSERT INTO filler VALUES (randomblob(?))", [bytes]);
  database.close();
}
