/** The certificate of all servers in PostgreSQL: sealed texts by name. */
import type { CertificateTexts } from "../../contracts/store/certificate-texts.ts";
import type { PostgresEngine } from "./engine.ts";

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
