/** A server that is killed while a tool runs: what was sent once is never sent again under another name. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sendChat } from "./support/chat.ts";
import { eventually } from "./support/eventually.ts";
import { runExecutable, startExecutable } from "./support/executable.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { temporaryDirectory } from "./support/temporary.ts";
import { readEvents } from "./support/tool-world.ts";

let mock: MockLlm;
beforeAll(async () => {
  mock = await startMockLlm();
});
afterAll(() => mock.close());

async function run(dataDir: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await runExecutable([...args, "--data-dir", dataDir, "--json"]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test("a message whose tool ran when the server was killed is kept, and its tool is not called again", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  const arrived = Promise.withResolvers<void>();
  const ids: string[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      ids.push(request.headers.get("webhook-id") ?? "");
      arrived.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" };
  const email = "tools@example.com";
  await run(dataDir, "account", "create", "--email", email);
  const { id, embed_token: token } = await run(dataDir, "companion", "create", "--account", email, "--name", "Ada");
  const { key } = await run(
    dataDir,
    "key",
    "create",
    "--account",
    email,
    "--name",
    "Tools",
    "--scopes",
    "companions:write",
  );
  const message = {
    ...{ message: "[[call:book {}]]", events: true },
    ...{ session_id: crypto.randomUUID(), message_id: crypto.randomUUID() },
  };
  {
    await using server = await startExecutable({ dataDir, env });
    const authorization = `Bearer ${key}`;
    const made = await fetch(`${server.url}/api/companions/${id}/tools`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: JSON.stringify({ name: "book", url: `http://127.0.0.1:${receiver.port}/` }),
    });
    expect(made.status).toBe(201);
    // Whatever arrives of it.
    const sent = sendChat(server.url, token, message).then(
      (response) => response.text().catch(() => ""),
      () => "",
    );
    await arrived.promise;
    await server.stop("SIGKILL");
    await sent;
  }
  await using server = await startExecutable({ dataDir, env });
  const again = await readEvents(await sendChat(server.url, token, message));
  expect([again.status, again.isDone]).toEqual([503, false]);
  // Once that is on disk, it is there, without a reply.
  let third = again;
  await eventually(async () => {
    third = await readEvents(await sendChat(server.url, token, message));
    return third.status !== 503;
  });
  expect([third.status, third.isDone, third.text]).toEqual([200, false, ""]);
  expect(ids).toHaveLength(1);
  expect(mock.requests).toHaveLength(1);
  await receiver.stop(true);
});
