/** All that an installation keeps, as one text to search for what must not be there. */
import { readdirSync, readFileSync } from "node:fs";
import { SQL } from "bun";
import { engineEnvironment } from "./engine.ts";

/** The bytes of all files of the data directory and of all rows of its database, one character per byte. */
export async function readStoredBytes(dataDir: string): Promise<string> {
  const { DATABASE_URL: url } = await engineEnvironment(dataDir);
  const rows = url === undefined ? [] : await readRows(url);
  return [...readFiles(dataDir), ...rows].join("\n");
}

function readFiles(dataDir: string): string[] {
  const entries = readdirSync(dataDir, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((file) => readFileSync(`${file.parentPath}/${file.name}`, "latin1"));
}

async function readRows(url: string): Promise<string[]> {
  await using sql = new SQL(url, { max: 1 });
  const tables = await sql`SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
  const texts: string[] = [];
  for (const { name } of tables) {
    for (const { row } of await sql.unsafe(`SELECT each::text AS row FROM ${name} each`)) {
      // Binary columns come in hexadecimal digits.
      const decode = (_: string, digits: string) => Buffer.from(digits, "hex").toString("latin1");
      texts.push(
        Buffer.from(row, "utf8")
          .toString("latin1")
          .replace(/\\+x((?:[0-9a-f]{2})+)/g, decode),
      );
    }
  }
  return texts;
}
