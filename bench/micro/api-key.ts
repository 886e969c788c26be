/** An uncached API key check among 100 000 keys, and its SHA-256 alone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "../../src/domain/account.ts";
import { apiKeyStart, makeApiKey } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { processLog } from "../../src/lib/log.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";

export interface KeyCheckFigures {
  sha256Nanos: number;
  checkMicros: number;
  keys: number;
}

export async function measureKeyCheck(keys = 100_000, checks = 50_000): Promise<KeyCheckFigures> {
  const dataDir = mkdtempSync(join(tmpdir(), "companiond-keys-"));
  const store = await openSqliteStore({ dataDir, log: processLog() });
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
        const fields = { name: "bench", start: apiKeyStart(key), hash: sha256Hex(key), scopes, expiresAt: null };
        return store.apiKeys.create(account.id, { id: systemIds.uuid(), ...fields }, context());
      }),
    );
  }
  const keyAt = (index: number) => made[(index * 7919) % made.length] ?? "";

  let sha256Nanos = Number.POSITIVE_INFINITY;
  let checkMicros = Number.POSITIVE_INFINITY;
  // The best of a few rounds counts: what else runs on the machine only adds.
  for (let round = 0; round < 5; round++) {
    const first = round * checks;
    let startedMs = performance.now();
    for (let index = first; index < first + checks; index++) sha256Hex(keyAt(index));
    sha256Nanos = Math.min(sha256Nanos, ((performance.now() - startedMs) * 1e6) / checks);

    startedMs = performance.now();
    for (let index = first; index < first + checks; index++) {
      if ((await store.apiKeys.findByHash(sha256Hex(keyAt(index)))) === null) throw new Error("a key was not found");
    }
    checkMicros = Math.min(checkMicros, ((performance.now() - startedMs) * 1e3) / checks);
  }
  await store.close();
  rmSync(dataDir, { recursive: true });
  return { sha256Nanos, checkMicros, keys };
}
