/** Whoever reads the executable's log may stop reading: it serves on, and ends when it is told to. */
import { expect, test } from "bun:test";
import { closeSync, constants, openSync } from "node:fs";
import { eventually } from "./support/eventually.ts";
import { executablePath } from "./support/executable.ts";
import { temporaryDirectory } from "./support/temporary.ts";

async function freePort(): Promise<number> {
  const holder = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = holder;
  holder.stop(true);
  return port;
}

test.each([["standard output", []] as const, ["standard error", ["--json"]] as const])(
  "serves on and ends with code 0 while nobody reads its log on %s",
  async (_, flags) => {
    using dir = temporaryDirectory();
    const pipe = dir.file("log");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    // Open for reading and never read: the pipe fills up.
    const unread = openSync(pipe, constants.O_RDWR);
    const url = `http://127.0.0.1:${await freePort()}`;
    const words = ["serve", "--port", new URL(url).port, "--data-dir", dir.file("data"), ...flags];
    const isOnError = flags.length > 0;
    const server = Bun.spawn([executablePath, ...words], {
      env: {},
      stdin: "ignore",
      stdout: isOnError ? "ignore" : unread,
      stderr: isOnError ? unread : "ignore",
    });
    const isHealthy = () =>
      fetch(`${url}/healthz`).then(
        (response) => response.ok,
        () => false,
      );
    await eventually(isHealthy);
    // Some 170 bytes a line, where a pipe holds 64 KiB.
    for (let round = 0; round < 40; round++) await Promise.all(Array.from({ length: 25 }, isHealthy));
    expect(await isHealthy()).toBe(true);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    closeSync(unread);
  },
);
