/** What may be fetched, as far as the URL alone tells. */
import { type AllowedHost, hostOf, isPortAllowed } from "../../../lib/allowed-hosts.ts";
import { failFetching } from "./failure.ts";

export interface Target {
  /** Without a fragment. */
  readonly url: URL;
  /** Lower case, IPv6 in brackets, no final dot. */
  readonly host: string;
  readonly port: number;
}

/** Longer ones are no page's, and every one is kept. */
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
 * Throws a `FetchingFailure`. Odd spellings of hosts need no care here: the URL parser turns decimal, octal and
 * hexadecimal IPv4 into the usual form, names into ASCII, and refuses what it cannot read.
 */
export function readTarget(text: string, base: URL | null, allowed: readonly AllowedHost[]): Target {
  const url = base === null ? URL.parse(text) : URL.parse(text, base.href);
  if (url === null) throw failFetching(base === null ? "scheme" : "redirect");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw failFetching("scheme");
  if (url.username !== "" || url.password !== "") throw failFetching("credentials");
  url.hash = "";
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (badPorts.has(port) && !isPortAllowed(allowed, host, port)) throw failFetching("port");
  if (host === "" || host.endsWith(".")) throw failFetching("notPublic");
  return { url, host, port };
}
