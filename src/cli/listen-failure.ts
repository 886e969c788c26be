/**
 * Explains why listening on an address failed. Resolves the host name first: for a name that does not resolve, the
 * system reports a code left over from an earlier call.
 */
import { lookup } from "node:dns/promises";
import { listOwnAddresses } from "../lib/own-addresses.ts";

export interface ListenProblem {
  host: string;
  port: number;
  /** The system's code: EADDRINUSE, EACCES, EADDRNOTAVAIL; empty if there is none. */
  code: string;
  message: string;
  /** Which setting names the port; by default PORT. */
  purpose?: "https" | "http";
}

export interface ListenExplanation {
  /** What is wrong, as a sentence. */
  wrong: string;
  /** What to do, as a sentence. */
  advice: string;
}

const lookupDeadlineMs = 5_000;
const otherHost = "Give --host an address of this machine, 0.0.0.0 or :: for all.";
const nameDeadlineMs = 1_000;
const otherPort = "Choose another with --port or PORT.";
const otherPorts = {
  https:
    "Stop that program, or set COMPANIOND_HTTPS_PORT to another port and have connections to port 443 forwarded to it.",
  http: "Stop that program, or set COMPANIOND_HTTP_PORT to another port and have requests to port 80 forwarded to it.",
};
const privilege =
  "Ports below 1024 need a privilege: under systemd AmbientCapabilities=CAP_NET_BIND_SERVICE, elsewhere " +
  "setcap 'cap_net_bind_service=+ep' on the executable.";

/** Never rejects. */
export async function explainListenFailure(problem: ListenProblem): Promise<ListenExplanation> {
  const { host, port, code, message, purpose } = problem;
  const addresses = await findAddresses(host);
  if (addresses.length === 0) {
    return { wrong: `${host} is not an address of this machine: the name does not resolve.`, advice: otherHost };
  }
  if (code === "EADDRNOTAVAIL" || !addresses.some(mayBeOwnAddress)) {
    return { wrong: `${host} is not an address of this machine.`, advice: otherHost };
  }
  const advice = purpose === undefined ? otherPort : otherPorts[purpose];
  if (code === "EADDRINUSE") {
    const where = host === "::" || host === "0.0.0.0" ? `port ${port}` : `port ${port} of ${host}`;
    const program = await findProgram(host, port);
    return { wrong: `${where} is in use by another program${program === null ? "" : ` (${program})`}.`, advice };
  }
  if (code === "EACCES") {
    const setting = purpose === undefined ? "--port or PORT" : `COMPANIOND_${purpose.toUpperCase()}_PORT`;
    return {
      wrong: `no permission to listen on port ${port}.`,
      advice: `${privilege} Or choose another port with ${setting}.`,
    };
  }
  return { wrong: `cannot listen on ${host}, port ${port}: ${message}.`, advice };
}

/** What calls itself by a name on the port, in HTTP; null if nothing does in time. */
async function findProgram(host: string, port: number): Promise<string | null> {
  const reachable = host === "::" || host === "0.0.0.0" ? "127.0.0.1" : host;
  const address = `${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
  const names = await Promise.all(
    ["http", "https"].map(async (scheme) => {
      try {
        const response = await fetch(`${scheme}://${address}/`, {
          method: "HEAD",
          redirect: "manual",
          signal: AbortSignal.timeout(nameDeadlineMs),
          tls: { rejectUnauthorized: false },
        });
        return response.headers.get("server");
      } catch {
        return null;
      }
    }),
  );
  // These words come from the program that has the port.
  return names.find((name) => name !== null && /^[\w./ ()-]{1,60}$/.test(name)) ?? null;
}

/** All addresses of the name, or the address itself; empty if none is found in time. */
async function findAddresses(host: string): Promise<string[]> {
  const found = lookup(host, { all: true }).then(
    (entries) => entries.map(({ address }) => address),
    () => [],
  );
  const { promise: late, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(resolve, lookupDeadlineMs, []);
  return await Promise.race([found, late]).finally(() => clearTimeout(timer));
}

/** Also true where the system does not list them: then its code is all there is. */
function mayBeOwnAddress(address: string): boolean {
  // A zone (fe80::1%eth0) only names the interface.
  const bare = address.replace(/%.*/, "");
  if (bare === "0.0.0.0" || bare === "::" || bare === "::1" || bare.startsWith("127.")) return true;
  return listOwnAddresses()?.some((entry) => entry.address === bare) ?? true;
}
