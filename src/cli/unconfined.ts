/** What is said where the processes that read documents have files and network: why, and what helps. */
import { type ConfinementObstacle, findConfinementObstacle } from "../core/knowledge/reading/confinement.ts";
import type { Log } from "../lib/log.ts";

interface Unconfined {
  /** Part of a sentence. */
  why: string;
  advice: string;
}

const otherwise = "Or add only documents that you trust.";
const descriptions: Readonly<Record<ConfinementObstacle, Unconfined>> = {
  platform: {
    why: "there is none for this system",
    advice: `Run the server on Linux on x64 or arm64. ${otherwise}`,
  },
  filter: {
    why: "the filter of system calls that the server runs under does not allow seccomp",
    advice:
      "Under systemd, use the current unit, or add SystemCallFilter=seccomp to yours; in a container, let its profile " +
      `allow seccomp. ${otherwise}`,
  },
  kernel: {
    why: "the kernel does not allow it",
    advice: `Use a kernel with CONFIG_SECCOMP_FILTER. ${otherwise}`,
  },
};

/** For what has been found to be so. */
export function describeUnconfined(): Unconfined {
  return descriptions[findConfinementObstacle() ?? "kernel"];
}

/** Takes less than a millisecond; what only the first process would find is in the report of `doctor`. */
export function warnIfUnconfined(log: Pick<Log, "warn">): void {
  const obstacle = findConfinementObstacle();
  if (obstacle === null) return;
  const { why, advice } = descriptions[obstacle];
  log.warn("documents are read in processes without confinement", { why, advice });
}
