/** The migrations make what the schemas say: a change to a schema comes with its migration. */
import { expect, test } from "bun:test";
import { cpSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import sqliteConfig from "../../drizzle.config.ts";
import postgresConfig from "../../drizzle.postgres.config.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = join(import.meta.dir, "../..");

const configs = { sqlite: sqliteConfig, postgres: postgresConfig };
for (const [engine, config] of Object.entries(configs)) {
  test(`nothing is left to generate for ${engine}`, async () => {
    using directory = temporaryDirectory();
    cpSync(join(root, config.out ?? ""), directory.path, { recursive: true });
    // Generated into a copy: a test does not write into the tree.
    const out = relative(root, directory.path);
    writeFileSync(directory.file("config.json"), JSON.stringify({ ...config, out }));
    const command = [
      "node_modules/.bin/drizzle-kit",
      "generate",
      "--config",
      relative(root, directory.file("config.json")),
    ];
    const run = Bun.spawn([process.execPath, ...command], { cwd: root, stdout: "pipe", stderr: "pipe" });
    const output = `${await run.stdout.text()}${await run.stderr.text()}`;
    expect(output).toContain("No schema changes");
  });
}
