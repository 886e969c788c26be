/** What may be requested on behalf of others, as far as the URL alone shows. */
import { type AllowedHost, hostOf, isPortAllowed } from "../allowed-hosts.ts";

export interface Target {
  /** Without a fragment. */
  readonly url: URL;
  /** Lower case, IPv6 in brackets, no final dot. */
  readonly host: string;
  readonly port: number;
}

/**
 * - `scheme`, `credentials`, `port`: of the URL.
 * - `notPublic`: the host, or an address of its name; also an unregistered name, so that they cannot be told apart.
 * - `unresolved`: the name could not be looked up at present.
 */
export type TargetFault = "scheme" | "credentials" | "port" | "notPublic" | "unresolved";

export class RefusedTarget extends Error {
  readonly fault: TargetFault;

  constructor(fault: TargetFault) {
    super(`refused: ${fault}`);
    this.name = "RefusedTarget";
    this.fault = fault;
  }
}

/** Longer ones lead to no page and no service, and every one is kept. */
export const maxUrlLength = 2048;

/**
 * The ports that browsers refuse ("bad port" in the Fetch standard): their servers speak other protocols, and could take
 * a request for commands.
 */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Throws `RefusedTarget`. Odd spellings of hosts need no care here: the URL parser turns decimal, octal and hexadecimal
 * IPv4 into the usual form, names into ASCII, and refuses what it cannot read.
 */
export function readTarget(given: URL, allowed: readonly AllowedHost[]): Target {
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new RefusedTarget("scheme");
  if (url.username !== "" || url.password !== "") throw new RefusedTarget("credentials");
  url.hash = "";
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (badPorts.has(port) && !isPortAllowed(allowed, host, port)) throw new RefusedTarget("port");
  if (host === "" || host.endsWith(".")) throw new RefusedTarget("notPublic");
  return { url, host, port };
}
