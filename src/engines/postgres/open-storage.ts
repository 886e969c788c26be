/** Opens the store for a server, with what it agrees on with others, or for a command. */

import type { CertificateTexts } from "../../contracts/store/certificate-texts.ts";
import type { OpenedStorage, OpenOptions } from "../../contracts/store/engine.ts";
import type { Store } from "../../contracts/store/store.ts";
import { explainStartFailure } from "./connect-failure.ts";
import type { PostgresOptions } from "./connection.ts";
import { openCoordination, type PostgresCoordination } from "./coordination/coordination.ts";
import type { PostgresEngine } from "./engine.ts";
import { openPostgresStore } from "./open.ts";

/** Connections of each kind for a command: one for a transaction, and one beside it. */
const maxOfCommand = 2;

/** Rejects within 10 s, if PostgreSQL does not take long to refuse, with `unavailable` or `conflict` and a sentence. */
export async function openStorage(options: PostgresOptions, openOptions: OpenOptions): Promise<OpenedStorage> {
  try {
    return await open(options, openOptions);
  } catch (error) {
    throw explainStartFailure(error);
  }
}

async function open(options: PostgresOptions, openOptions: OpenOptions): Promise<OpenedStorage> {
  const {
    log,
    clock,
    version,
    isCommand = false,
    isMigration = false,
    sharesWindows = false,
    beforeFirst,
    use = "makes",
  } = openOptions;
  const mayCreate = use === "makes";
  // What it begins is migrated; what is there may be in use by servers of an earlier version.
  const migrates = !isCommand || isMigration;
  const { url } = options;
  // The driver opens as many as it may have immediately, and a command asks one thing after the other.
  const most = isCommand ? maxOfCommand : Number.POSITIVE_INFINITY;
  const opened = await openPostgresStore({
    url,
    pool: Math.min(options.pool, most),
    poolHeavy: Math.min(options.poolHeavy, most),
    log,
    migrates,
    mayCreate,
    beforeFirst,
  });
  const certificateTexts = createCertificateTexts(opened.engine);
  if (isCommand) return { store: opened.store, shared: null, certificateTexts };
  try {
    const shared = await openCoordination(opened, { url, version, sharesWindows, clock, log });
    return { store: withCoordination(opened.store, shared), shared, certificateTexts };
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

/** A store that is ready only while this server is one of those that others count on. */
function withCoordination(store: Store, shared: PostgresCoordination): Store {
  return {
    ...store,
    async check() {
      shared.checkAlive();
      await store.check();
    },
    async close() {
      await shared.close();
      await store.close();
    },
  };
}

interface TextRow {
  name: string;
  sealed: string;
}

const selectNamed = "SELECT name, sealed FROM certificate_texts WHERE name = ANY($1::text[])";
const selectPrefixed = "SELECT name, sealed FROM certificate_texts WHERE starts_with(name, $1) LIMIT $2";
const upsert = `INSERT INTO certificate_texts (name, sealed) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`;
const deleteNamed = "DELETE FROM certificate_texts WHERE name = $1";
const deletePrefixed = "DELETE FROM certificate_texts WHERE starts_with(name, $1)";

/** The certificate of all servers in PostgreSQL: sealed texts by name. */
export function createCertificateTexts(engine: PostgresEngine): CertificateTexts {
  const toMap = (rows: readonly TextRow[]) => new Map(rows.map(({ name, sealed }) => [name, sealed]));
  const change = (statement: string, parameters: readonly string[]) =>
    engine.write(async (transaction) => {
      await transaction.run(statement, parameters);
    });

  return {
    find: async (names) => toMap(await engine.quick.all<TextRow>(selectNamed, [names])),
    list: async (prefix, limit) => toMap(await engine.quick.all<TextRow>(selectPrefixed, [prefix, limit])),
    put: (name, sealed) => change(upsert, [name, sealed]),
    remove: (name) => change(deleteNamed, [name]),
    removeAll: (prefix) => change(deletePrefixed, [prefix]),
  };
}
