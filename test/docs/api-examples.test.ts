import { expect, test } from "bun:test";
import { scopes } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("the TypeScript of the guide for platforms runs as it stands, from the first block to the last", async () => {
  const guide = await Bun.file("docs/api.md").text();
  const blocks = [...guide.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]);
  expect(blocks.length).toBeGreaterThan(10);
  using dir = temporaryDirectory();
  await Bun.write(dir.file("guide.ts"), `${blocks.join("\n")}\nexport {};\n`);

  const server = await startTestServer({ isDemoProvider: true });
  try {
    const account = await server.createAccount();
    const key = `cmp_live_${systemIds.secret(32)}`;
    const named = { id: systemIds.uuid(), name: "our platform", start: key.slice(0, 13), hash: sha256(key) };
    await server.services.store.apiKeys.create(account.id, { ...named, scopes, expiresAt: null }, testContext());
    const run = Bun.spawn([process.execPath, dir.file("guide.ts")], {
      env: { BASE_URL: server.url, COMPANIOND_KEY: key },
      cwd: dir.path,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, exitCode] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("in use from now on: emb_");
    expect(stdout).not.toContain("broke off");
    // It rotated the key that it was given.
    expect((await server.services.store.apiKeys.list(account.id)).map((one) => one.name)).toEqual([
      "our platform, 2026",
    ]);
  } finally {
    await server.close();
  }
});
