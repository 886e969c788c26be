/** The example of a backend that relays chat, run as its README says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../support/app.ts";
import { installClientPackage } from "../support/client-package.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const example = join(import.meta.dir, "../../examples/relay");
let directory: TemporaryDirectory;
let server: TestServer;
let backend: Bun.Subprocess<"ignore", "pipe", "inherit">;
let address: string;
let companionId: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(example, directory.path, { recursive: true });
  await installClientPackage(directory.path);
  server = await startTestServer();
  const account = await server.createAccount();
  const { key } = await server.createKey(account, ["chat:write"]);
  ({ id: companionId } = await server.createCompanion(
    { visitorAuth: "optional", systemPrompt: "Talk to {{visitor.name}}." },
    account,
  ));
  backend = Bun.spawn(["node", directory.file("server.mjs")], {
    env: { PATH: process.env.PATH ?? "", BASE_URL: server.url, API_KEY: key, COMPANION_ID: companionId, PORT: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = backend.stdout.getReader();
  address = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
});
afterAll(async () => {
  backend.kill();
  await backend.exited;
  await server.close();
  directory[Symbol.dispose]();
});

function ask(body: object, options: { session?: string; signal?: AbortSignal } = {}): Promise<Response> {
  return fetch(`${address}/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${options.session ?? "session-of-ada"}` },
    body: JSON.stringify(body),
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

async function readLines(response: Response): Promise<Record<string, unknown>[]> {
  const lines = (await response.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

test("relays the reply to whom its own session names, and goes on with the conversation", async () => {
  const [first = {}, ...rest] = await readLines(await ask({ message: "Hello" }));
  expect(rest.map(({ text = "" }) => text).join("")).toBe("You said: Hello");
  expect(rest.at(-1)).toEqual({ done: true });
  const lines = await readLines(await ask({ message: "Again", session_id: first.session_id }));
  expect(lines[0]).toEqual(first);
  const request = JSON.stringify(server.mockLlm.requests.at(-1));
  expect(request).toContain("Talk to Ada.");
  expect(request).toContain("You said: Hello");
});

test("refuses who is not signed in, and passes on what the server refuses", async () => {
  expect((await ask({ message: "Hello" }, { session: "nobody" })).status).toBe(401);
  const lines = await readLines(await ask({ message: "" }));
  expect(lines.at(-1)).toMatchObject({ error: { code: "invalid_request" } });
  const broken = await readLines(await ask({ message: "[[cut:2]] [[words:6]]" }));
  expect(broken.at(-1)).toMatchObject({ error: { code: "incomplete" } });
});

test("stops the model when the page goes away", async () => {
  const aborted = server.mockLlm.abortedRequests;
  const gone = new AbortController();
  const response = await ask({ message: "[[silence:2]] [[words:9]]" }, { signal: gone.signal });
  // Before the first text, the model may not have been asked at all.
  let heard = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += part;
    if (heard.includes('"text"')) break;
  }
  gone.abort();
  await server.mockLlm.until(() => server.mockLlm.abortedRequests === aborted + 1);
  expect(server.mockLlm.openRequests).toBe(0);
});
