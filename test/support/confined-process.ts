/** Confines itself, and prints as JSON what it can still do. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { confineProcess } from "../../src/core/knowledge/reading/confinement.ts";

const isConfined = confineProcess();
const can = (attempt: () => unknown) => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};
const connects = await new Promise<boolean>((resolve) => {
  try {
    const socket = connect(Number(process.argv[2]), "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
  } catch {
    resolve(false);
  }
});
// Threads go on: the collector of garbage needs them.
const grown = Array.from({ length: 200_000 }, (_, at) => ({ at }));
Bun.gc(true);
console.log(
  JSON.stringify({
    isConfined,
    connects,
    reads: can(() => readFileSync("/etc/hostname")),
    runs: can(() => Bun.spawnSync(["/bin/true"])),
    kills: can(() => process.kill(process.ppid, 0)),
    computes: grown.length === 200_000,
  }),
);
process.exit(0);
