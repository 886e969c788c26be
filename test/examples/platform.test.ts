/** The example of a platform's server, run as its README says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../support/app.ts";
import { installClientPackage } from "../support/client-package.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const example = join(import.meta.dir, "../../examples/platform");
const origin = "https://shop.example";
let directory: TemporaryDirectory;
let server: TestServer;
let key: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(example, directory.path, { recursive: true });
  await installClientPackage(directory.path);
  server = await startTestServer();
  const account = await server.createAccount();
  ({ key } = await server.createKey(account, ["companions:read", "companions:write", "usage:read"]));
});
afterAll(async () => {
  await server.close();
  directory[Symbol.dispose]();
});

async function run(args: string[], environment: Record<string, string> = { API_KEY: key }) {
  const child = Bun.spawn(["node", directory.file("platform.mjs"), ...args], {
    env: { PATH: process.env.PATH ?? "", BASE_URL: server.url, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

test("makes a companion once, whose token works on the customer's website, and reads what it used", async () => {
  const first = await run(["42", origin]);
  expect(first).toMatchObject({ stderr: "", exitCode: 0 });
  expect(first.stdout).toMatch(/^Created companion \S+ of customer 42\.\n/);
  expect(first.stdout).toContain("Last 30 days: 0 messages, 0 tokens.");

  const [, token] = /data-token="(emb_\w+)"/.exec(first.stdout) ?? [];
  const response = await fetch(`${server.url}/api/embed/${token}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ message: "Hello" }),
  });
  expect(await response.text()).toEndWith("data: [DONE]\n\n");

  const second = await run(["42", origin]);
  expect(second.stdout).toBe(
    first.stdout.replace("Created", "Found").replace("0 messages, 0 tokens", "1 messages, 18 tokens"),
  );
  expect((await run(["43", origin])).stdout).toStartWith("Created");
});

test("ends with the server's reason where it is refused, and says how to run it", async () => {
  const refused = await run(["42", origin], { API_KEY: `cmp_live_${"x".repeat(32)}` });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("unauthorized");
  expect(await run(["42"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Usage:") });
});
