/** What `--domain` adds to a running server: certificates as they come, and the port of plain HTTP. */
import type { OpenedServices } from "../app/opened-services.ts";
import type { Config } from "../config/config.ts";
import type { ManagedCertificates } from "../contracts/certificates/certificates.ts";
import { clearOutcomes } from "../http/clear-answers.ts";
import type { ListenFailure } from "../server/listener.ts";
import { type ClearListener, openClearListener } from "../server/plain-http-listener.ts";
import type { RunningServer } from "../server/server.ts";
import { fail, ok } from "./doctor/finding.ts";
import { explainListenFailure } from "./listen-failure.ts";
import type { ProcessUser } from "./process-user.ts";

export interface Domains {
  /** The port of plain HTTP, with its answers. */
  readonly clear: ClearListener;
  close(): Promise<void>;
}

export interface DomainsOptions {
  config: Pick<Config, "publicUrl" | "server">;
  services: Pick<OpenedServices, "log" | "ids" | "measurements" | "selfChecks">;
  server: Pick<RunningServer, "port" | "replaceCertificate">;
  certificates: ManagedCertificates;
  user: Pick<ProcessUser, "asCaller">;
  /** Shortened in tests. */
  retryMs?: number;
}

export function serveDomains({ config, services, server, certificates, user, ...rest }: DomainsOptions): Domains {
  const { host, acme } = config.server;
  const { domains = [], httpPort = 0 } = acme ?? {};
  const { log, ids, measurements } = services;
  certificates.onChange((certificate) => {
    try {
      server.replaceCertificate(certificate);
    } catch (error) {
      log.error("certificate not put to use, keeping the current one", { error });
    }
  });
  const stray = findStrayPublicUrl(config.publicUrl, domains);
  if (stray !== null) log.warn(stray);

  const clear = openClearListener({
    ...{ host, port: httpPort, ids, domains, ...rest },
    httpsPort: findHttpsPort(config.publicUrl, domains) ?? server.port,
    findChallenge: certificates.findChallenge,
    listenFirst: user.asCaller,
    onOpen(port) {
      log.info("listening for challenges and redirects", { port });
      certificates.start();
    },
    onFailure: (failure) => void explainClosedPort(failure).then((sentence) => log.warn(sentence)),
  });
  measurements.probes.push(
    {
      name: "companiond_http_port_open",
      help: "1 while COMPANIOND_HTTP_PORT takes challenges and redirects; 0 while another program has it.",
      read: () => (clear.failure === null ? 1 : 0),
    },
    ...clearOutcomes.map((outcome) => ({
      name: "companiond_http_port_requests_total",
      help: "Requests over plain HTTP: challenges answered and missed, redirects, refused API calls.",
      labels: { outcome },
      read: () => clear.counts[outcome],
    })),
  );
  services.selfChecks.push({
    name: "HTTP port",
    async check() {
      if (clear.failure === null) return ok("HTTP port", `It takes challenges and redirects on ${httpPort}.`);
      const { wrong, advice } = await explainListenFailure({ ...pick(clear.failure), purpose: "http" });
      return fail("HTTP port", `${wrong} No certificate can be obtained or renewed.`, advice);
    },
  });
  return { clear, close: () => clear.stop() };
}

/** An error's message is not among what is spread. */
function pick({ host, port, code, message }: ListenFailure) {
  return { host, port, code, message };
}

/** Never rejects. */
async function explainClosedPort(failure: ListenFailure): Promise<string> {
  const { wrong, advice } = await explainListenFailure({ ...pick(failure), purpose: "http" });
  return (
    `${wrong} Until this is put right, no certificate is obtained or renewed, and no one who opens http:// is redirected to ` +
    `https://. ${advice} It is tried again every minute.`
  );
}

/** The port of HTTPS that visitors use, which may be forwarded to ours; null if the public URL has none. */
function findHttpsPort(publicUrl: string | null, domains: readonly string[]): number | null {
  const url = publicUrl === null ? null : new URL(publicUrl);
  // Port 0 was a free one, known only now.
  if (url === null || url.protocol !== "https:" || !domains.includes(url.hostname) || url.port === "0") return null;
  return url.port === "" ? 443 : Number(url.port);
}

function findStrayPublicUrl(publicUrl: string | null, domains: readonly string[]): string | null {
  if (publicUrl === null || domains.includes(new URL(publicUrl).hostname)) return null;
  return (
    `COMPANIOND_PUBLIC_URL is ${publicUrl}, and COMPANIOND_DOMAIN does not name its host: links lead there, where this ` +
    "server has no certificate. Remove it, unless something else answers there and passes requests on."
  );
}
