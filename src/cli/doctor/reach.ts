/** Asks for a companiond at an address, and explains why none responds: name, connection, TLS, or another server. */
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { codeOf } from "../../lib/error-code.ts";
import { describeFailure } from "./finding.ts";

const limitMs = 5_000;

export interface Reached {
  readonly kind: "companiond";
  readonly version: string;
}

export interface NotReached {
  readonly kind: "none";
  /** The rest of a sentence, without its full stop. */
  readonly cause: string;
  readonly advice: string;
}

/** `fetch`, which tests replace. */
export type Ask = (url: string, init: BunFetchRequestInit) => Promise<Response>;

/** `tlsName` is whom its certificate must name, if not the host. Never rejects. */
export async function reachServer(
  baseUrl: string,
  { tlsName = null, ask = fetch }: { tlsName?: string | null; ask?: Ask } = {},
): Promise<Reached | NotReached> {
  const url = new URL(baseUrl);
  try {
    const response = await ask(`${baseUrl}/healthz`, {
      signal: AbortSignal.timeout(limitMs),
      // Only the checks of other addresses also verify the name on the certificate.
      ...(baseUrl.startsWith("https://127.") ? { tls: { rejectUnauthorized: false } } : {}),
      ...(tlsName === null ? {} : { tls: { serverName: tlsName } }),
    });
    const body: unknown = await response.json().catch(() => null);
    const isOurs = response.ok && typeof body === "object" && body !== null && "version" in body;
    return isOurs ? { kind: "companiond", version: String(body.version) } : explainAnswer(url, response.status);
  } catch (error) {
    return { kind: "none", ...explainError(url, error) };
  }
}

/** Those with which a proxy reports that its upstream does not answer. */
const proxyStatuses = [502, 503, 504];

function explainAnswer({ host }: URL, status: number): NotReached {
  if (proxyStatuses.includes(status)) {
    const advice = "Start the server, and let the proxy pass requests on to the address at which it listens.";
    return { kind: "none", cause: `a proxy answers with status ${status}, and does not reach the server`, advice };
  }
  const advice = `Point ${host} to this server, or let the proxy there pass all requests on to it.`;
  return { kind: "none", cause: `something else answers, with status ${status}`, advice };
}

function explainError(url: URL, error: unknown): Omit<NotReached, "kind"> {
  const { hostname, protocol } = url;
  const port = Number(url.port) || (protocol === "https:" ? 443 : 80);
  const code = codeOf(error);
  if (error instanceof Error && error.name === "TimeoutError") {
    return {
      cause: `port ${port} of ${hostname} does not answer within ${limitMs / 1000} s`,
      advice: `Let firewalls and routers pass port ${port} on to the server. Behind some routers a machine cannot see its own public address: then try it from another network.`,
    };
  }
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") {
    return {
      cause: `nothing listens on port ${port} of ${hostname}: the connection is refused`,
      advice: `Start the server; if it runs, let it or the proxy in front of it listen on port ${port} there.`,
    };
  }
  if (code === "ENOTFOUND" || code === "DNS_ENOTFOUND") {
    return {
      cause: `${hostname} does not resolve`,
      advice: `Add an A or AAAA record for ${hostname} that points to this server or to its proxy, or correct the name.`,
    };
  }
  if (code === "EAI_AGAIN" || code.startsWith("DNS_")) {
    return {
      cause: `${hostname} could not be looked up (${code})`,
      advice: "Check the name servers of this machine (/etc/resolv.conf).",
    };
  }
  return protocol === "https:" ? explainTls(hostname, port, code, error) : explainBroken(code, error);
}

function explainTls(hostname: string, port: number, code: string, error: unknown): Omit<NotReached, "kind"> {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return {
      cause: `the TLS certificate there is for another name than ${hostname}`,
      advice: `Serve a certificate that names ${hostname}, and check that the name points to this server.`,
    };
  }
  if (code === "CERT_HAS_EXPIRED") {
    return {
      cause: "the TLS certificate there has expired",
      advice: "Renew it where TLS ends: here, or at the proxy.",
    };
  }
  if (isUntrustedCertificate(code)) {
    return {
      cause: `the TLS certificate there is not trusted (${code})`,
      advice:
        "Serve the whole chain of a certificate that browsers trust. NODE_EXTRA_CA_CERTS names the file of a private authority.",
    };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) {
    return {
      cause: `the TLS handshake on port ${port} fails`,
      advice:
        "If the port speaks plain HTTP, put TLS there. A server with --domain refuses handshakes until it has a certificate.",
    };
  }
  return explainBroken(code, error);
}

function explainBroken(code: string, error: unknown): Omit<NotReached, "kind"> {
  if (code === "ECONNRESET" || code === "ConnectionClosed") {
    return {
      cause: "the connection is closed without an answer",
      advice:
        "Check what listens there: a port of HTTPS closes connections of http://, and a proxy those it does not know.",
    };
  }
  const reason = code === "" ? describeFailure(error) : code;
  return { cause: `it cannot be reached (${reason})`, advice: "Check name, proxy and firewall." };
}
