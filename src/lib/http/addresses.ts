/** From a host's name to the addresses that may be connected to. */
import { lookup } from "node:dns/promises";
import { type AddressStanding, type AllowedHost, standingOf } from "../allowed-hosts.ts";
import { codeOf } from "../error-code.ts";
import { readIp } from "../ip-address.ts";
import { RefusedTarget, type Target } from "./target.ts";

/** All addresses of a name, as the system resolves it. Rejects with an error with a `code`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export interface AddressRules {
  /** The operator's exceptions. */
  readonly allowed: readonly AllowedHost[];
  /** Names of this server, as in a URL: what listens beside it is not for strangers to reach. */
  readonly ownHosts: readonly string[];
  /** Whether an address is this machine's. */
  readonly isOwn: (address: string) => Promise<boolean>;
  readonly resolve: Resolve;
}

export interface FoundAddresses {
  /** In the order to try. */
  readonly addresses: readonly string[];
  /** Whether all of them are exceptions of the operator's. */
  readonly areListed: boolean;
}

/** More are not tried. */
const maxAddresses = 4;

/**
 * IPv4 first, since a machine without IPv6 is likelier than one without IPv4. Every address of the answer must be allowed:
 * a name that leads to a public and to a private one is a trick or a mistake. Rejects with `RefusedTarget`.
 */
export async function findAddresses(
  { host, port }: Target,
  { allowed, ownHosts, isOwn, resolve }: AddressRules,
): Promise<FoundAddresses> {
  const ip = findLiteral(host);
  const found = ip === null ? await lookUp(host, resolve) : [ip];
  if (found.length === 0) throw new RefusedTarget("notPublic");
  const standings: AddressStanding[] = [];
  for (const address of found) {
    const standing = standingOf(allowed, { host, port, address });
    const isRefused =
      standing === "public" ? ownHosts.includes(host) || (await isOwn(address)) : standing === "refused";
    if (isRefused) throw new RefusedTarget("notPublic");
    standings.push(standing);
  }
  const isIpv6 = (address: string) => Number(address.includes(":"));
  return {
    addresses: found.toSorted((one, other) => isIpv6(one) - isIpv6(other)).slice(0, maxAddresses),
    areListed: standings.every((standing) => standing === "listed"),
  };
}

/** The IP address that a URL's host is, without brackets; null if it is a name. */
export function findLiteral(host: string): string | null {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return readIp(bare, 0, bare.length, new Uint16Array(8)) === 0 ? null : bare;
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    throw new RefusedTarget(/NOTFOUND|NODATA|NONAME/.test(codeOf(error)) ? "notPublic" : "unresolved");
  }
}
