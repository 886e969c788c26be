/** Processes of the system by id, as Linux shows them under `/proc`. */
import { readdirSync, readFileSync } from "node:fs";

/** True also of a process that only its parent still knows. */
export function hasEnded(pid: number): boolean {
  const state = readStatus(pid)?.state;
  return state === undefined || state === "Z" || state === "X";
}

/** By SIGSTOP. */
export function isStopped(pid: number): boolean {
  return readStatus(pid)?.state === "T";
}

/** Kills the process and its children as one: it is stopped first, so that it neither sees nor replaces them. */
export function killWithChildren(pid: number): void {
  process.kill(pid, "SIGSTOP");
  for (const child of childrenOf(pid)) process.kill(child, "SIGKILL");
  process.kill(pid, "SIGKILL");
}

function childrenOf(pid: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((other) => readStatus(other)?.parent === pid);
}

function readStatus(pid: number): { state: string; parent: number } | null {
  try {
    // The name before it is in brackets, and may contain anything.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}
