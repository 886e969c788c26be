/** What a server writes to its files and syncs, as strace records it, and what of that a power failure may leave. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { eventually } from "../test/support/eventually.ts";
import type { Random } from "./row.ts";

const strace = "/usr/bin/strace";

/** Some containers forbid it. */
export function canTrace(): boolean {
  return existsSync(strace) && Bun.spawnSync([strace, "-o", "/dev/null", "true"], { stderr: "ignore" }).exitCode === 0;
}

/** Before a command: records into `file` what it and its threads write and sync. The command keeps its process. */
export function recordWrites(file: string): string[] {
  const calls = "trace=pwrite64,ftruncate,fsync,fdatasync";
  return [strace, "-D", "-f", "--seccomp-bpf", "-ttt", "-T", "-y", "-xx", "-s", "70000", "-o", file, "-e", calls];
}

/** Before a command: delays or fails its syncs, as `fault` of strace's `inject`. Records the syncs into `file`. */
export function disturbSyncs(file: string, fault: string): string[] {
  const syncs = "fsync,fdatasync";
  const inject = ["-e", `trace=${syncs}`, "-e", `inject=${syncs}:${fault}`];
  return [strace, "-D", "-f", "--seccomp-bpf", "-ttt", "-y", "-o", file, ...inject];
}

/** Resolves with the lines once the process `pid` has ended. */
export async function readTrace(file: string, pid: number): Promise<string[]> {
  const read = () => readFileSync(file, "latin1").split("\n");
  const isOver = () => read().some((line) => line.startsWith(`${pid} `) && line.includes("+++"));
  await eventually(isOver, { what: "strace to end" });
  return read();
}

export interface Operation {
  what: "write" | "truncate" | "sync";
  /** The name of the file, without its directory. */
  file: string;
  /** Seconds since 1970. */
  startedAt: number;
  endedAt: number;
  bytes: Buffer;
  /** Where the bytes are written, or the size that is left. */
  offset: number;
}

const started = /^(\d+) +(\d+\.\d+) (\w+)\(\d+<([^>]*)>(.*)$/;

/** In the order in which they began. */
export function parseOperations(lines: readonly string[]): Operation[] {
  const open = new Map<string, Operation>();
  const operations: Operation[] = [];
  for (const line of lines) {
    const resumed = /^(\d+) +(\d+\.\d+) <\.\.\. \w+ resumed>.* = (-?\d+)/.exec(line);
    if (resumed !== null) {
      const operation = open.get(resumed[1] ?? "");
      if (operation !== undefined && Number(resumed[3]) >= 0) operation.endedAt = Number(resumed[2]);
      continue;
    }
    const [, thread = "", time = "", call = "", path = "", rest = ""] = started.exec(line) ?? [];
    if (call === "") continue;
    const operation = toOperation(call, basename(readHex(path).toString()), Number(time), rest);
    if (rest.includes("<unfinished")) open.set(thread, operation);
    else if (/ = \d+ /.test(rest)) operation.endedAt = Number(time) + Number(/<([\d.]+)>$/.exec(rest)?.[1]);
    operations.push(operation);
  }
  return operations;
}

function toOperation(call: string, file: string, startedAt: number, rest: string): Operation {
  const base = { file, startedAt, endedAt: Number.POSITIVE_INFINITY, bytes: Buffer.alloc(0), offset: 0 };
  if (call === "ftruncate") return { ...base, what: "truncate", offset: Number(/^, (\d+)/.exec(rest)?.[1]) };
  if (call !== "pwrite64") return { ...base, what: "sync" };
  const [, hex = "", , offset] = /^, "((?:\\x\w\w)*)", (\d+), (\d+)/.exec(rest) ?? [];
  if (offset === undefined) throw new Error(`a write that cannot be read: ${rest.slice(0, 200)}`);
  return { ...base, what: "write", bytes: readHex(hex), offset: Number(offset) };
}

function readHex(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}

/**
 * The file after a power failure at `atSeconds`: with everything that a sync had confirmed, and of the rest of what was
 * written any part, as the disk happened to take it.
 */
export function afterPowerFailure(
  before: Buffer,
  operations: readonly Operation[],
  atSeconds: number,
  random: Random,
): Buffer {
  const begun = operations.filter(({ startedAt }) => startedAt <= atSeconds);
  const syncs = begun.filter(({ what, endedAt }) => what === "sync" && endedAt <= atSeconds);
  const lastSyncAt = Math.max(0, ...syncs.map(({ startedAt }) => startedAt));
  const file = Buffer.alloc(Math.max(before.length, ...begun.map(({ offset, bytes }) => offset + bytes.length)));
  let size = before.copy(file);
  // All of it, nothing, or some: a disk rarely chooses piece by piece, and each may be the one that hurts.
  const share = random.below(5) / 4;
  for (const { what, offset, bytes, endedAt } of begun) {
    const isConfirmed = endedAt <= lastSyncAt;
    if (what === "sync" || !(isConfirmed || random.below(1_000) < share * 1_000)) continue;
    if (what === "truncate") file.fill(0, offset, size);
    size = what === "truncate" ? offset : Math.max(size, offset + bytes.copy(file, offset));
  }
  return file.subarray(0, size);
}
