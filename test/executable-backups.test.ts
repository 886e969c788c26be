/** Backups in S3 by the compiled executable, as an operator makes, checks and restores them. */
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { runExecutable, startExecutable } from "./support/executable.ts";
import { startS3 } from "./support/s3.ts";
import { temporaryDirectory } from "./support/temporary.ts";

test("uploads beside a running server, lists, verifies, and restores into an empty directory", async () => {
  await using s3 = await startS3();
  using dir = temporaryDirectory();
  const identity = await generateIdentity();
  writeFileSync(dir.file("identity.txt"), `${identity}\n`, { mode: 0o600 });
  const env = {
    ...s3.environment,
    COMPANIOND_BACKUP_AGE_RECIPIENT: await identityToRecipient(identity),
    // Of the operator's own shell: none of companiond's business.
    AWS_SESSION_TOKEN: "somebody-else's",
    AWS_REGION: "eu-none-1",
  };
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runExecutable(args, { env });
    expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: "" });
    return stdout;
  };
  const dataDir = dir.file("data");
  await using server = await startExecutable({ args: ["--demo"], dataDir, env });
  const { name } = JSON.parse(await run("backup", "s3:", "--data-dir", dataDir, "--json"));
  const { data } = JSON.parse(await run("backups", "list", "--data-dir", dataDir, "--json"));
  expect(data).toEqual([{ name, created_at: expect.any(String), bytes: expect.any(Number), where: "s3" }]);
  const identityArgs = ["--age-identity", dir.file("identity.txt")];
  expect(await run("backups", "verify", "--data-dir", dataDir, ...identityArgs)).toContain("1 companion,");

  const restored = await run("restore", `s3:${name}`, "--data-dir", dir.file("new"), ...identityArgs);
  expect(restored).toContain("The key of sealed secrets is in no backup");
  expect(readdirSync(dir.file("new")).sort()).toEqual(["companiond.db", "serve.lock"]);
  expect(await run("account", "list", "--data-dir", dir.file("new"))).toBe(
    await run("account", "list", "--data-dir", dataDir),
  );
  expect(s3.sessionTokens).toEqual([]);
  expect(server.stdout + server.stderr).not.toContain(String(s3.place.secret));
});
