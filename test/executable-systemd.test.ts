/**
 * The executable as systemd runs it: by the unit's own command as an unprivileged user (/usr/bin/setpriv), with a socket
 * for its notifications, credentials and a journal.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, closeSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { Subprocess } from "bun";
import { eventually } from "./support/eventually.ts";
import { runExecutable } from "./support/executable.ts";
import { type NotifyReceiver, receiveNotifications } from "./support/notify-receiver.ts";
import { isStopped } from "./support/processes.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./support/temporary.ts";
import { readUnitStart, type UnitStart, unitUser } from "./support/unit-start.ts";

/** Only root may start something as another user. */
const isRoot = process.geteuid?.() === 0;
const key = "sk-of-the-unit-that-nobody-may-see-0123456789";
const watchdogMs = 20;

describe.skipIf(!isRoot)("as root, who may start it as another user", () => {
  let directory: TemporaryDirectory;
  let receiver: NotifyReceiver;
  let service: Subprocess;
  let log: string;
  let start: UnitStart;

  beforeAll(async () => {
    directory = temporaryDirectory();
    receiver = receiveNotifications(directory.file("notify"));
    start = readUnitStart(directory);
    const envFile = `${start.credentials}/companiond.env`;
    const given = [`OPENAI_API_KEY=${key}`, "OPENAI_BASE_URL=http://127.0.0.1:9/v1", "PORT=0", "COMPANIOND_LOG=debug"];
    writeFileSync(envFile, given.join("\n"), { mode: 0o400 });
    chownSync(envFile, unitUser, unitUser);
    log = directory.file("log");
    // A file is as good as the journal's socket: what counts is that the environment names what the output is.
    const output = openSync(log, "a");
    const { dev, ino } = fstatSync(output, { bigint: true });
    service = Bun.spawn(start.command, {
      cwd: "/",
      env: {
        NOTIFY_SOCKET: directory.file("notify"),
        WATCHDOG_USEC: String(watchdogMs * 1000),
        JOURNAL_STREAM: `${dev}:${ino}`,
      },
      stdin: "ignore",
      stdout: output,
      stderr: output,
    });
    closeSync(output);
    await receiver.told("READY", "1");
  });
  afterAll(async () => {
    service.kill("SIGKILL");
    await service.exited;
    receiver[Symbol.dispose]();
    directory[Symbol.dispose]();
  });

  const lines = () => readFileSync(log, "utf8").trimEnd().split("\n");
  const signsOfLife = () => receiver.read().filter((message) => message["WATCHDOG"] === "1").length;

  test("it asks for time before the database is opened, and is ready once it answers", async () => {
    const [first, ready] = receiver.read();
    const url = /^Serving (\S+), 0 open replies$/.exec(ready?.["STATUS"] ?? "")?.[1];
    expect(first).toEqual({ EXTEND_TIMEOUT_USEC: "900000000", STATUS: "Opening the database" });
    expect(ready?.["READY"]).toBe("1");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  test("its log lines begin with the priority that the journal reads, and go on as JSON", async () => {
    const listening = lines().find((line) => line.includes('"event":"listening"'));
    expect(listening).toStartWith("<6>{");
    const priorities: Record<string, string> = { debug: "7", info: "6", warn: "4", error: "3" };
    for (const line of lines()) {
      const [, priority, json = ""] = /^<(\d)>(.*)$/.exec(line) ?? [];
      expect(priority).toBe(priorities[JSON.parse(json).level]);
    }
  });

  test("doctor, without the unit's settings, reports what the service runs with, and no secret", async () => {
    const { stdout, stderr } = await runExecutable(["doctor", "--json", "--data-dir", start.state]);
    expect(stderr).toBe("");
    const checks: { name: string; status: string; detail: string }[] = JSON.parse(stdout).checks;
    const find = (name: string) => checks.find((check) => check.name === name);
    expect(find("server")).toMatchObject({
      status: "ok",
      detail: expect.stringContaining(`pid ${service.pid}, user `),
    });
    expect(find("settings")?.detail).toContain("OPENAI_API_KEY, OPENAI_BASE_URL");
    // Asked by root, who must not be told that the directory ought to be root's.
    expect(find("data directory")).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/ belongs to user \d+ alone\.$/),
    });
    expect(find("language model")?.detail).toContain("127.0.0.1:9");
    expect(stdout).not.toContain("built-in demo");
    expect(stdout).not.toContain(key);
  });

  test("doctor of a user who may not ask names the one who may, and reports nobody's settings", async () => {
    const other = ["/usr/bin/setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups", "--bounding-set=-all"];
    const child = Bun.spawn([...other, start.executable, "doctor", "--data-dir", start.state], {
      cwd: "/",
      env: {},
      stdout: "pipe",
    });
    const stdout = await new Response(child.stdout).text();
    expect(await child.exited).toBe(1);
    expect(stdout).toContain(`belongs to user ${unitUser}`);
    expect(stdout).toContain(
      `Run it as root, which works as that user there: sudo companiond doctor --data-dir ${start.state}`,
    );
    expect(stdout).not.toContain("language model");
  });

  test("it says that it reloads, and that it is ready again", async () => {
    const before = receiver.read().length;
    service.kill("SIGHUP");
    await receiver.told("RELOADING", "1");
    const since = () => receiver.read().slice(before);
    await eventually(() => since().some((message) => message["READY"] === "1"));
    const reloading = since().find((message) => message["RELOADING"] === "1");
    // The kernel's own monotonic clock, which is what systemd compares with.
    const uptimeUs = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000_000;
    expect(Math.abs(Number(reloading?.["MONOTONIC_USEC"]) - uptimeUs)).toBeLessThan(60_000_000);
  });

  test("it gives signs of life, and none while it stands still", async () => {
    const before = signsOfLife();
    await eventually(() => signsOfLife() >= before + 2);
    service.kill("SIGSTOP");
    await eventually(() => isStopped(service.pid));
    const last = signsOfLife();
    // Takes longer than several signs of life would.
    await runExecutable(["version"]);
    expect(signsOfLife()).toBe(last);
    service.kill("SIGCONT");
    await eventually(() => signsOfLife() > last);
  });

  test("it says that it stops, ends with 0, and leaves no socket behind", async () => {
    service.kill("SIGTERM");
    await receiver.told("STOPPING", "1");
    expect(await service.exited).toBe(0);
    expect(await Bun.file(`${start.state}/companiond.sock`).exists()).toBe(false);
  });
});
