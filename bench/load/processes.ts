/** Starting, pinning and measuring the processes of a benchmark. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import type { ClientJob, ClientResult } from "./client.ts";
import type { ProviderCounters } from "./provider.ts";

/** Server under test alone on one core; provider and visitors share the other. */
export const serverCore = 0;
export const loadCore = 1;

const here = import.meta.dir;
/** Clock ticks a second in /proc (USER_HZ), which Linux fixes at 100 for user space. */
const ticksPerSecond = 100;
const pageKiB = 4;

export interface Running {
  pid: number;
  port: number;
  stop(): Promise<void>;
}

export function pinned(core: number | string, command: string[]): string[] {
  return ["taskset", "-c", String(core), ...command];
}

/** Not pinned: several servers share the machine with what they need. */
export const anyCore = "0-1";

/** Starts a process that prints one JSON line with its `port`; what it writes to standard error goes to `logPath`, if given. */
export async function startProcess(
  core: number | string,
  command: string[],
  environment: Record<string, string> = {},
  logPath?: string,
): Promise<Running & { ask(): Promise<ProviderCounters> }> {
  const child = Bun.spawn(pinned(core, command), {
    stdin: "pipe",
    stdout: "pipe",
    stderr: logPath === undefined ? "inherit" : Bun.file(logPath),
    env: { PATH: process.env["PATH"] ?? "", ...environment },
  });
  const lines = readLines(child.stdout);
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${command.join(" ")} ended before it told its port`);
    const port = findPort(value);
    if (port === null) continue;
    return {
      pid: child.pid,
      port,
      stop: () => stop(child),
      async ask() {
        child.stdin.write("?\n");
        child.stdin.flush();
        return JSON.parse((await lines.next()).value ?? "{}");
      },
    };
  }
}

function findPort(line: string): number | null {
  try {
    const told = JSON.parse(line);
    if (typeof told.port === "number") return told.port;
    if (typeof told.url === "string") return Number(new URL(told.url).port);
  } catch {
    // A line for people.
  }
  return null;
}

export async function stop(child: Subprocess): Promise<void> {
  // nginx's workers outlive a master that is killed outright.
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 2_000);
  await child.exited;
  clearTimeout(timer);
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let held = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    held += decoder.decode(chunk, { stream: true });
    for (let end = held.indexOf("\n"); end !== -1; end = held.indexOf("\n")) {
      yield held.slice(0, end);
      held = held.slice(end + 1);
    }
  }
  return undefined;
}

export function startProvider() {
  return startProcess(loadCore, ["bun", join(here, "provider.ts")]);
}

function startClient(job: ClientJob) {
  return Bun.spawn(pinned(loadCore, ["bun", join(here, "client.ts"), JSON.stringify(job)]), {
    stdout: "pipe",
    stderr: "inherit",
  });
}

/** Runs visitors to the end. */
export async function runClient(job: ClientJob): Promise<ClientResult> {
  const child = startClient(job);
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("the visitors' process failed");
  return JSON.parse(output);
}

/** Lets visitors come, measures, and has all of them leave at once. */
export async function holdClient(job: ClientJob, measure: () => Promise<void>): Promise<void> {
  const child = startClient(job);
  await measure();
  child.kill("SIGKILL");
  await child.exited;
}

/** CPU seconds of a process and its children so far, user and system, all threads. */
export function cpuSeconds(pid: number): number {
  let total = 0;
  for (const each of withChildren(pid)) {
    const stat = readFileSync(`/proc/${each}/stat`, "utf8");
    // The name in parentheses may hold spaces; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    total += (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }
  return total;
}

/** Seconds that the servers' core has been busy, with whatever process. */
export function busySeconds(): number {
  const line = readFileSync("/proc/stat", "utf8")
    .split("\n")
    .find((each) => each.startsWith(`cpu${serverCore} `));
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0] = (line ?? "")
    .split(" ")
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupts + softInterrupts) / ticksPerSecond;
}

/** Resident memory of a process and its children, in KiB. */
export function residentKiB(pid: number): number {
  let total = 0;
  for (const each of withChildren(pid)) {
    total += Number(readFileSync(`/proc/${each}/statm`, "utf8").split(" ")[1]) * pageKiB;
  }
  return total;
}

function withChildren(pid: number): number[] {
  const found = [pid];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim();
    if (children !== "") for (const child of children.split(" ")) found.push(...withChildren(Number(child)));
  }
  return found;
}
