import { expect, test } from "bun:test";
import { scopes } from "../../src/domain/account.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { newApiKey } from "../support/store-world.ts";
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
    const first = newApiKey({ name: "our platform", hash: sha256(key), scopes });
    await server.services.store.apiKeys.create(account.id, first, testContext());
    const run = Bun.spawn([process.execPath, dir.file("guide.ts")], {
      env: { BASE_URL: server.url, API_KEY: key },
      cwd: dir.path,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, exitCode] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("in use from now on: emb_");
    expect(stdout).not.toContain("broke off");
    // It made a key and rotated it.
    const [renewed, replaced, own] = await server.services.store.apiKeys.list(account.id);
    expect(own).toMatchObject({ id: first.id, replacedByKeyId: null });
    expect(replaced).toMatchObject({ name: "shop servers", createdByKeyId: first.id, replacedByKeyId: renewed?.id });
    expect(renewed).toMatchObject({ name: "shop servers", createdByKeyId: first.id, expiresAt: null });
  } finally {
    await server.close();
  }
});
