/** How long a server's event loop lets a small request wait, in processor time: other programs' share is no fault of it. */
import { readFileSync } from "node:fs";

interface Server {
  readonly url: string;
  readonly pid: number;
}

/** The most that the server's own thread took, in milliseconds, while one of many small requests waited during `work`. */
export async function measureHold(server: Server, work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let longestMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const startedMs = threadMs(server.pid);
      await (await fetch(`${server.url}/healthz`)).arrayBuffer();
      longestMs = Math.max(longestMs, threadMs(server.pid) - startedMs);
    }
  })();
  await work().finally(() => {
    isOver = true;
  });
  await watching;
  return longestMs;
}

/** Of the process's first thread, on which all JavaScript runs. */
function threadMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
