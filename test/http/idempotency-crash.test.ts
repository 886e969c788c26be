/** Idempotent calls over kills of a real server process. */
import { expect, test } from "bun:test";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { runJson } from "../support/cli.ts";
import { engineEnvironment } from "../support/engine.ts";
import { someOf } from "../support/full.ts";
import { temporaryDirectory } from "../support/temporary.ts";

interface Running {
  api: ApiClient;
  /** As a power switch does, for the process. */
  kill(): Promise<void>;
}

async function start(dataDir: string, key: string): Promise<Running> {
  const child = Bun.spawn([process.execPath, "test/support/server-process.ts"], {
    env: {
      COMPANIOND_DATA_DIR: dataDir,
      COMPANIOND_RATE_PER_KEY: "100000",
      COMPANIOND_LOG: "error",
      ...(await engineEnvironment(dataDir)),
    },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  return {
    api: apiClient(url, key),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

test("calls that a crash interrupted are made exactly once when they are sent again", async () => {
  using dir = temporaryDirectory();
  const options = { environment: { COMPANIOND_DATA_DIR: dir.path } };
  await runJson(["account", "create", "--email", "a@example.com"], options);
  const words = ["key", "create", "--account", "a@example.com", "--name", "k"];
  const { key } = (await runJson([...words, "--scopes", "companions:read,companions:write"], options)) as {
    key: string;
  };

  const names = Array.from({ length: 90 }, (_, index) => `c${index}`);
  const answered = new Map<string, string>();
  const send = (api: ApiClient, name: string) =>
    api.call("POST", "/api/companions", { name }, { "idempotency-key": `make ${name}` });

  const crashes = someOf(
    [
      [0, 1],
      [30, 7],
      [60, 20],
    ] as const,
    2,
  );
  for (const [from, killAfter] of crashes) {
    const server = await start(dir.path, key);
    const isTimeToKill = Promise.withResolvers<void>();
    const sent = names.slice(from, from + 30).map(async (name) => {
      const response = await send(server.api, name).catch(() => null);
      if (response?.status !== 201) return;
      answered.set(name, response.json.id);
      if (answered.size >= from + killAfter) isTimeToKill.resolve();
    });
    await Promise.race([isTimeToKill.promise, Promise.all(sent)]);
    await server.kill();
    await Promise.all(sent);

    const again = await start(dir.path, key);
    for (const name of names.slice(0, from + 30)) {
      const response = await send(again.api, name);
      expect(response.status).toBe(201);
      const before = answered.get(name);
      if (before !== undefined) expect(response.json.id).toBe(before);
      answered.set(name, response.json.id);
    }
    const listed = (await again.api.call("GET", "/api/companions?limit=100")).json.data;
    expect(listed.map((one) => one.name).toSorted()).toEqual(names.slice(0, from + 30).toSorted());
    await again.kill();
  }
  // So many starts of a server take their time on a busy machine.
});
