/** Checks the ports, also both of `--domain`, the certificate, the proxy in front and the public URL. */
import type { Config } from "../../config/config.ts";
import { readCertificateExpiry } from "../../lib/certificate.ts";
import { codeOf } from "../../lib/error-code.ts";
import { dayMs } from "../../lib/instant.ts";
import { isLoopbackAddress } from "../../lib/loopback.ts";
import { listenOn } from "../../server/listener.ts";
import { loadCertificate } from "../certificate.ts";
import { explainListenFailure } from "../listen-failure.ts";
import { lacksPublicUrl, withoutPublicUrl } from "../warnings.ts";
import { describeFailure, type Finding, fail, off, ok, warn } from "./finding.ts";
import { type Ask, reachServer } from "./reach.ts";

/** Checks the two ports of `--domain`: HTTPS, and plain HTTP for challenges and redirects. */
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
  if (port === 0) return ok(name, "Any free port will be used.");
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

/** Whether a server of ours has the port of plain HTTP: nothing else shows it of a call to the API. */
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

const limitMs = 5_000;

export async function examinePort({ server: { host, port, tls } }: Config): Promise<Finding> {
  const name = "port";
  if (port === 0) return ok(name, "Any free port will be used.");
  try {
    const probe = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
    await probe.stop(true);
    return ok(name, `${port} of ${host} is free.`);
  } catch (error) {
    const code = codeOf(error);
    const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
    const address = reachable.includes(":") ? `[${reachable}]` : reachable;
    const running = await reachServer(`${tls === null ? "http" : "https"}://${address}:${port}`);
    if (running.kind === "companiond")
      return ok(name, `companiond ${running.version} is serving on ${port} of ${host}.`);
    const { wrong, advice } = await explainListenFailure({ host, port, code, message: describeFailure(error) });
    return fail(name, wrong, advice);
  }
}

/** `servedUntilMs`: when the one that a running server has loaded expires. */
export async function examineCertificate(
  config: Config,
  nowMs: number,
  servedUntilMs: number | null = null,
): Promise<Finding[]> {
  const name = "certificate";
  try {
    const certificate = await loadCertificate(config);
    if (certificate === null) return [];
    const untilMs = readCertificateExpiry(certificate);
    const found = judgeExpiry(name, servedUntilMs ?? untilMs, nowMs);
    if (servedUntilMs === null || servedUntilMs === untilMs) return [found];
    const detail = "The file holds another certificate than the server has loaded.";
    return [found, warn(name, detail, "Send SIGHUP to the server (systemctl reload companiond).")];
  } catch (error) {
    return [fail(name, describeFailure(error), "Provide a certificate chain and its key in PEM.")];
  }
}

function isTls({ tls, acme }: Config["server"]): boolean {
  return tls !== null || acme !== null;
}

function judgeExpiry(name: string, untilMs: number, nowMs: number): Finding {
  const days = Math.floor((untilMs - nowMs) / dayMs);
  const advice = "Renew it, then send SIGHUP to the server.";
  if (days < 0) return fail(name, "It has expired.", advice);
  const detail = `It is valid for ${days} more days.`;
  return days < 14 ? warn(name, detail, advice) : ok(name, detail);
}

/** The number of proxies cannot be seen from outside, but contradictions can, and what a server has `seen` of them. */
export async function examineProxy(config: Config, seen?: number): Promise<Finding> {
  const name = "proxy headers";
  const { publicUrl, server } = config;
  const trusted = server.trustProxy;
  const isLoopback = isLoopbackAddress(server.host);
  const set = "Set COMPANIOND_TRUST_PROXY to the number of proxies in front.";
  const forwarded = seen ?? (await countUntrustedForwards(config));
  if (trusted === 0 && forwarded > 0) {
    const requests = forwarded === 1 ? "1 request" : `${forwarded} requests`;
    return fail(name, `A proxy has forwarded ${requests}, and none is trusted: all visitors share one limit.`, set);
  }
  if (trusted === 0 && publicUrl?.startsWith("https://") && !isTls(server)) {
    return warn(name, `${publicUrl} must end in a proxy, and none is trusted: all visitors share one limit.`, set);
  }
  if (trusted > 0 && !isLoopback) {
    return warn(
      name,
      `${trusted} trusted, and the server listens on ${server.host}: clients that bypass the proxy can forge addresses.`,
      "Listen on 127.0.0.1, or let a firewall admit only the proxy.",
    );
  }
  return ok(
    name,
    trusted === 0 ? "No proxy is trusted." : `${trusted} ${trusted === 1 ? "proxy is" : "proxies are"} trusted.`,
  );
}

/** Of a server that cannot be asked: read from its metrics, if the configuration opens them. */
async function countUntrustedForwards({ metrics, server }: Config): Promise<number> {
  const { host, port } = server;
  const isOwnPort = metrics.port !== null && metrics.port !== 0;
  if (!isOwnPort && metrics.token === null) return 0;
  const reachable = host === "::" ? "127.0.0.1" : host;
  const own = `${isTls(server) ? "https" : "http"}://${reachable}:${port}`;
  const url = isOwnPort ? `http://127.0.0.1:${metrics.port}` : own;
  try {
    const headers = { authorization: `Bearer ${metrics.token ?? ""}` };
    const response = await fetch(`${url}/metrics`, {
      headers,
      signal: AbortSignal.timeout(limitMs),
      tls: { rejectUnauthorized: false },
    });
    return Number(/^companiond_untrusted_forwards_total (\d+)$/m.exec(await response.text())?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export async function examinePublicUrl(config: Config, ask?: Ask): Promise<Finding> {
  const { publicUrl } = config;
  const name = "public URL";
  if (publicUrl === null) {
    if (!lacksPublicUrl(config)) return off(name, "None is set; only this machine can reach the server.");
    return warn(
      name,
      `None is set: ${withoutPublicUrl}.`,
      "Set COMPANIOND_PUBLIC_URL to the address that visitors use, such as https://chat.example.com.",
    );
  }
  const reached = await reachServer(publicUrl, ask === undefined ? {} : { ask });
  if (reached.kind === "none") {
    return warn(name, `No companiond responds at ${publicUrl}/healthz: ${reached.cause}.`, reached.advice);
  }
  return ok(name, `companiond ${reached.version} answers at ${publicUrl}.`);
}
