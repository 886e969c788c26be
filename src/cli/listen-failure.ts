/**
 * Explains why listening on an address failed. Looks up the host name first: for a name that does not resolve, the
 * system reports whatever code the call before it left behind.
 */
import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";

export interface ListenProblem {
  host: string;
  port: number;
  /** The system's code: EADDRINUSE, EACCES, EADDRNOTAVAIL; empty if there is none. */
  code: string;
  message: string;
}

export interface ListenExplanation {
  /** What is wrong, as a sentence. */
  wrong: string;
  /** What to do, as a sentence. */
  advice: string;
}

const lookupDeadlineMs = 5_000;
const otherHost = "Give --host an address of this machine, 0.0.0.0 or :: for all.";
const otherPort = "Choose another with --port or PORT.";

/** Never rejects. */
export async function explainListenFailure({ host, port, code, message }: ListenProblem): Promise<ListenExplanation> {
  const addresses = await findAddresses(host);
  if (addresses.length === 0) {
    return { wrong: `${host} is not an address of this machine: the name does not resolve.`, advice: otherHost };
  }
  if (code === "EADDRNOTAVAIL" || !addresses.some(isOwnAddress)) {
    return { wrong: `${host} is not an address of this machine.`, advice: otherHost };
  }
  if (code === "EADDRINUSE") {
    return { wrong: `port ${port} of ${host} is in use by another program.`, advice: otherPort };
  }
  if (code === "EACCES")
    return { wrong: `no permission to listen on port ${port}.`, advice: "Ports below 1024 need a privilege." };
  return { wrong: `cannot listen on ${host}, port ${port}: ${message}.`, advice: otherPort };
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

function isOwnAddress(address: string): boolean {
  // A zone (fe80::1%eth0) only names the interface.
  const bare = address.replace(/%.*/, "");
  if (bare === "0.0.0.0" || bare === "::" || bare === "::1" || bare.startsWith("127.")) return true;
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return own.some((entry) => entry.address === bare);
}
