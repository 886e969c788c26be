/** Checks the two ports of `--domain`: HTTPS, and plain HTTP for challenges and redirects. */
import type { Config } from "../../config/config.ts";
import { codeOf } from "../../lib/error-code.ts";
import { listenOn } from "../../server/listener.ts";
import { explainListenFailure } from "../listen-failure.ts";
import { describeFailure, type Finding, fail, ok } from "./finding.ts";
import { reachServer } from "./reach.ts";

const limitMs = 5_000;

export async function examineDomainPorts({ server: { host, port, acme } }: Config): Promise<Finding[]> {
  const httpPort = acme?.httpPort ?? 0;
  const isRunning = await answersInTheClear(host, httpPort);
  const https = await examine("HTTPS port", host, port, "https", async () => {
    const running = await reachServer(`https://${toAddress(host)}:${port}`);
    if (running.kind === "companiond") return `companiond ${running.version} is serving on ${port}.`;
    return isRunning ? `companiond holds ${port}, and has no certificate yet.` : null;
  });
  const http = await examine("HTTP port", host, httpPort, "http", async () =>
    isRunning ? `companiond takes challenges and redirects to HTTPS on ${httpPort}.` : null,
  );
  return [https, http];
}

async function examine(
  name: string,
  host: string,
  port: number,
  purpose: "https" | "http",
  findOwn: () => Promise<string | null>,
): Promise<Finding> {
  if (port === 0) return ok(name, "Any free port will be taken.");
  try {
    const socket = { data() {} };
    const probe = listenOn(host, port, (hostname) => Bun.listen({ hostname, port, socket }));
    probe.stop(true);
    return ok(name, `${port} is free.`);
  } catch (error) {
    const own = await findOwn();
    if (own !== null) return ok(name, own);
    const code = codeOf(error);
    const problem = { host, port, code, message: describeFailure(error), purpose };
    const { wrong, advice } = await explainListenFailure(problem);
    return fail(name, wrong, advice);
  }
}

/** Whether a server of ours has the port of plain HTTP: nothing else says so of a call to the API. */
async function answersInTheClear(host: string, port: number): Promise<boolean> {
  if (port === 0) return false;
  try {
    const response = await fetch(`http://${toAddress(host)}:${port}/api/`, { signal: AbortSignal.timeout(limitMs) });
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null && "code" in body && body.code === "https_required";
  } catch {
    return false;
  }
}

function toAddress(host: string): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return reachable.includes(":") ? `[${reachable}]` : reachable;
}
