/** The SDK as others install it. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSdkPackage } from "../../scripts/build-sdk-package.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = join(import.meta.dir, "../..");

test("the package stands alone: two modules, their types, no dependencies", async () => {
  using directory = temporaryDirectory();
  const folder = directory.file("companiond-sdk");
  await buildSdkPackage(folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
  expect(existsSync(join(folder, manifest.types))).toBe(true);

  const { createCompanion, CompanionError } = await import(join(folder, manifest.exports["."].default));
  const companion = createCompanion({ baseUrl: "http://127.0.0.1:1", token: "t" });
  await expect(companion.config({ retries: 0 })).rejects.toBeInstanceOf(CompanionError);

  const { solveChallenge } = await import(join(folder, manifest.exports["./challenge"].default));
  expect(existsSync(join(folder, manifest.exports["./challenge"].types))).toBe(true);
  const hash = createHash("sha256").update("salt7").digest("hex");
  const challenge = { algorithm: "SHA-256", challenge: hash, maxnumber: 9, salt: "salt", signature: "s" };
  expect(JSON.parse(atob(await solveChallenge(challenge)))).toMatchObject({ number: 7, signature: "s" });

  // A program in TypeScript that knows nothing but the package.
  writeFileSync(
    join(directory.path, "program.ts"),
    `import { CompanionError, createCompanion } from "./companiond-sdk/index.js";
    import type { CompanionConfig } from "./companiond-sdk/types/web/sdk/index.js";
    const companion = createCompanion({ baseUrl: "https://chat.example.com", token: "emb_x" });
    const config: CompanionConfig = await companion.config();
    for await (const text of companion.chat(config.greeting)) console.log(text.toUpperCase());
    try { await companion.voice(); } catch (error) {
      if (error instanceof CompanionError && error.code === "rate_limited") console.log(error.retryAfterMs);
    }`,
  );
  writeFileSync(join(folder, "index.d.ts"), 'export * from "./types/web/sdk/index.js";\n');
  const flags = [
    "--noEmit",
    "--strict",
    "--ignoreConfig",
    "--target",
    "esnext",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "esnext,dom",
    "--types",
    "",
  ];
  const check = Bun.spawnSync(
    [process.execPath, "x", "--no-install", "tsc", ...flags, join(directory.path, "program.ts")],
    { cwd: root },
  );
  expect(`${check.stdout}${check.stderr}`).toBe("");
  expect(check.success).toBe(true);
});
