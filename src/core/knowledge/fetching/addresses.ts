/** From a host's name to the addresses that may be connected to. */
import { lookup } from "node:dns/promises";
import { type AllowedHost, standingOf } from "../../../lib/allowed-hosts.ts";
import { codeOf } from "../../../lib/error-code.ts";
import { readIp } from "../../../lib/ip-address.ts";
import { failFetching } from "./failure.ts";
import type { Target } from "./target.ts";

/** All addresses of a name, as the system looks it up. Rejects with an error with a `code`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export interface AddressRules {
  /** The operator's exceptions. */
  readonly allowed: readonly AllowedHost[];
  /** Names of this server, as in a URL: what listens beside it is not for strangers to read. */
  readonly ownHosts: readonly string[];
  /** Whether an address is this machine's. */
  readonly isOwn: (address: string) => Promise<boolean>;
  readonly resolve: Resolve;
}

/** More are not tried. */
const mostAddresses = 4;

/**
 * In the order to try: IPv4 first, since a machine without IPv6 is likelier than one without IPv4. Every address of the
 * answer must be allowed: a name that leads to a public and to a private one is a trick or a mistake.
 */
export async function findAddresses(
  { host, port }: Target,
  { allowed, ownHosts, isOwn, resolve }: AddressRules,
): Promise<readonly string[]> {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const found = isIp(bare) ? [bare] : await lookUp(bare, resolve);
  if (found.length === 0) throw failFetching("notPublic");
  for (const address of found) {
    const standing = standingOf(allowed, { host, port, address });
    const isRefused =
      standing === "public" ? ownHosts.includes(host) || (await isOwn(address)) : standing === "refused";
    if (isRefused) throw failFetching("notPublic");
  }
  const isIpv6 = (address: string) => Number(address.includes(":"));
  return found.toSorted((one, other) => isIpv6(one) - isIpv6(other)).slice(0, mostAddresses);
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const code = codeOf(error);
    throw failFetching(/NOTFOUND|NODATA|NONAME/.test(code) ? "notPublic" : "unresolved");
  }
}

function isIp(text: string): boolean {
  return readIp(text, 0, text.length, new Uint16Array(8)) !== 0;
}
