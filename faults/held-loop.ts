/**
 * How long a server's event loop lets a small request wait, in processor time: other programs' share is no fault of it.
 * Measured within the server: to a client of a busy machine it looks as if the loop had been held until its own next turn.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../test/support/temporary.ts";

interface Server {
  readonly url: string;
  readonly pid: number;
}

export interface LoopWatch extends Disposable {
  /** For the server that is to be watched. */
  readonly env: Readonly<Record<string, string>>;
  /** The longest turn of the server's event loop during `work`, in milliseconds. */
  measureHold(server: Server, work: () => Promise<unknown>): Promise<number>;
}

export function createLoopWatch(): LoopWatch {
  const directory = temporaryDirectory();
  const prefix = directory.file("turns");
  const readTurns = ({ pid }: Server) =>
    existsSync(`${prefix}.${pid}`) ? readFileSync(`${prefix}.${pid}`, "utf8").split("\n").slice(0, -1).map(Number) : [];
  return {
    env: { BUN_OPTIONS: `--preload ${join(import.meta.dir, "loop-watch.ts")}`, FAULTS_TURNS: prefix },
    async measureHold(server, work) {
      const before = readTurns(server).length;
      await work();
      // The turn that ended the work is over, and noted, when the second of these is answered.
      for (let request = 0; request < 2; request++) await (await fetch(`${server.url}/healthz`)).arrayBuffer();
      return Math.max(0, ...readTurns(server).slice(before));
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}
