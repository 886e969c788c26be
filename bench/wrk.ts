/** Plain requests with Debian's wrk: requests a second and the 99th percentile. */
import { loadCore, pinned } from "./load/processes.ts";

export interface RequestFigures {
  requests: number;
  perSecond: number;
  p99Ms: number;
}

export function runWrk(port: number, path: string, seconds: number): RequestFigures | null {
  const wrk = Bun.which("wrk");
  if (wrk === null) return null;
  const url = `http://127.0.0.1:${port}${path}`;
  const result = Bun.spawnSync(pinned(loadCore, [wrk, "-t1", "-c64", `-d${seconds}s`, "--latency", url]));
  const output = result.stdout.toString();
  if (/Non-2xx/.test(output)) throw new Error(`${url} answered with errors:\n${output}`);
  const [, p99 = "0", unit = "ms"] = /99%\s+([\d.]+)(us|ms|s)/.exec(output) ?? [];
  const factor = unit === "us" ? 0.001 : unit === "s" ? 1000 : 1;
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0);
  return {
    requests,
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? 0),
    p99Ms: Number(p99) * factor,
  };
}
