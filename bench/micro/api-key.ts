/** An uncached API key check among 100 000 keys, beside its SHA-256 alone and the least that finding a key can be. */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "../../src/domain/account.ts";
import { apiKeyEnds, makeApiKey } from "../../src/domain/credentials.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { databasePath } from "../../src/engines/sqlite/connection.ts";
import { openSqliteStore } from "../../src/engines/sqlite/open.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { processLog } from "../../src/lib/log.ts";
import { sha256 } from "../../src/lib/sha256.ts";

export interface KeyCheckFigures {
  sha256Nanos: number;
  /** Hashing the key and finding its row by the hash, with one prepared statement and nothing else. */
  bareMicros: number;
  checkMicros: number;
  keys: number;
}

export async function measureKeyCheck(keys = 100_000, checks = 50_000): Promise<KeyCheckFigures> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-keys-"));
  const store = await openSqliteStore({ dataDir, log: processLog(), erasures: createErasureMarks() });
  const context = () => ({
    actor: { kind: "system" as const, id: null, ipPrefix: null, requestId: null },
    nowMs: Date.now(),
    auditId: systemIds.uuid(),
  });
  const account = {
    id: systemIds.uuid(),
    email: "bench@example.com",
    plan: "free",
    role: "owner",
    passwordHash: null,
  } as const;
  await store.accounts.create(account, context());
  const made: string[] = [];
  for (let done = 0; done < keys; done += 1_000) {
    await Promise.all(
      Array.from({ length: 1_000 }, () => {
        const key = makeApiKey(systemIds.secret);
        made.push(key);
        const fields = {
          name: "bench",
          ...apiKeyEnds(key),
          createdByKeyId: null,
          hash: sha256(key),
          scopes,
          expiresAt: null,
        };
        return store.apiKeys.create(account.id, { id: systemIds.uuid(), ...fields }, context());
      }),
    );
  }
  const keyAt = (index: number) => made[(index * 7919) % made.length] ?? "";

  const bare = new Database(databasePath(dataDir), { readonly: true });
  bare.run("PRAGMA cache_size = -8192");
  const findId = bare.prepare<{ id: string }, [Uint8Array]>("SELECT id FROM api_keys WHERE hash = ?");

  /** The best of a few rounds counts: what else runs on the machine only adds. */
  async function timeMicros(check: (key: string) => unknown): Promise<number> {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const first = round * checks;
      const startedMs = performance.now();
      for (let index = first; index < first + checks; index++) {
        const found = check(keyAt(index));
        if ((found instanceof Promise ? await found : found) === null) throw new Error("a key was not found");
      }
      best = Math.min(best, ((performance.now() - startedMs) * 1e3) / checks);
    }
    return best;
  }

  const sha256Nanos = (await timeMicros(sha256)) * 1e3;
  const bareMicros = await timeMicros((key) => findId.get(sha256(key)));
  const checkMicros = await timeMicros((key) => store.apiKeys.findByHash(sha256(key)));
  bare.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
  return { sha256Nanos, bareMicros, checkMicros, keys };
}
