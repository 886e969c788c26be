/** The Redis server of the tests: empty after a restart on the same port, and gone with the process that started it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { RedisClient } from "bun";
import { eventually } from "./eventually.ts";
import { readLines } from "./line-process.ts";
import { hasEnded } from "./processes.ts";
import { startRedisServer } from "./redis-server.ts";

async function ask(url: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new RedisClient(url, { autoReconnect: false });
  try {
    return await client.send(command, args);
  } finally {
    client.close();
  }
}

test("comes back on its port after a kill, with the same password and without data", async () => {
  await using server = await startRedisServer({ password: "some password" });
  await ask(server.url, "SET", "a", "1");
  const first = server.pid;
  await server.kill();
  expect(hasEnded(first)).toBe(true);
  await expect(ask(server.url, "PING")).rejects.toThrow();
  await server.start();
  expect(server.pid).not.toBe(first);
  expect(await ask(server.url, "GET", "a")).toBeNull();
  await server.stop();
  expect(server.log()).toContain("bye bye");
});

test("ends with the process that started it, even if that is killed", async () => {
  const script = `
    const { startRedisServer } = await import(${JSON.stringify(join(import.meta.dir, "redis-server.ts"))});
    console.log((await startRedisServer()).pid);
    await Bun.sleep(1e9);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const pid = Number((await readLines(child.stdout).next()).value);
  expect(hasEnded(pid)).toBe(false);
  child.kill("SIGKILL");
  await eventually(() => hasEnded(pid));
  expect(hasEnded(pid)).toBe(true);
});
