/**
 * The PostgreSQL engine: a server of the operator's, shared by any number of companiond servers.
 *
 * What it guarantees:
 * - A resolved write is on the server's disk, regardless of its default (`synchronous_commit`).
 * - Nothing waits for it without limit: 5 s for requests, then `unavailable`.
 * - Deleted text is gone from all answers immediately. From the server's files it goes when PostgreSQL vacuums them, and
 *   from its log, replicas and backups as these are replaced.
 */
import type { StorageEngine } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import type { PostgresOptions } from "./connection.ts";

export function createPostgres(options: PostgresOptions): StorageEngine {
  return {
    async open(openOptions) {
      // Loaded only here: installations without a server must not pay for it.
      const { openStorage } = await import("./open-storage.ts");
      return await openStorage(options, openOptions);
    },
    async inspect() {
      const { inspectPostgres } = await import("./inspection.ts");
      return await inspectPostgres(options.url);
    },
    // Servers that share a database do not disturb each other in it.
    lock: () => ({ release() {} }),
    backup: () => refuse("pg_dump"),
    restore: () => refuse("pg_restore"),
    examine: () => refuse("pg_dump"),
    verify: () => refuse("pg_amcheck"),
    // With what servers share: they have a connection for it.
    sizes: [],
  };
}

function refuse(tool: string): never {
  throw new AppError("invalid_request", `The data is in PostgreSQL, which has its own tools for this: use ${tool}.`);
}
