/** Ranges of IP addresses, and which addresses lie on the public internet. */
import { type IpVersion, readIp } from "./ip-address.ts";

/** Plain data, so that it can be frozen. */
export interface IpRange {
  readonly version: 4 | 6;
  /** Eight groups of 16 bits, as `readIp` gives them. */
  readonly groups: readonly number[];
  /** Of the 128. */
  readonly prefixBits: number;
}

/**
 * `public`: reachable from everywhere, and belonging to no one in particular. `private`: of this machine, of a network,
 * or set aside. `never`: nothing that anyone could want to read from is there, and the secrets of cloud machines are.
 */
export type IpReach = "public" | "private" | "never";

/** `192.168.0.0/16`, `fd00::/8`; bits after the prefix are ignored. Null if it is not a range. */
export function parseIpRange(text: string): IpRange | null {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const groups = new Uint16Array(8);
  const version = readIp(address, 0, address.length, groups);
  if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) return null;
  return { version, groups: [...groups], prefixBits: version === 4 ? 96 + Number(bits) : Number(bits) };
}

export function isInRange(version: IpVersion, groups: Uint16Array, range: IpRange): boolean {
  if (version !== range.version) return false;
  for (let i = 0, left = range.prefixBits; left > 0; i++, left -= 16) {
    const mask = left >= 16 ? 0xffff : 0xffff << (16 - left);
    if (((groups[i] ?? 0) & mask) !== ((range.groups[i] ?? 0) & mask)) return false;
  }
  return true;
}

/**
 * By the registries of special addresses (RFC 6890 and its successors). An IPv6 address that carries an IPv4 address
 * reaches no further than that: a gateway on the path would unpack it.
 */
export function reachOf(version: 4 | 6, groups: Uint16Array): IpReach {
  const found = special.find(({ range }) => isInRange(version, groups, range));
  if (version === 4) return found?.reach ?? "public";
  const own = found?.reach ?? (isGlobalUnicast(groups) ? "public" : "private");
  const carried = findCarried(groups);
  return carried === null ? own : narrower(own, reachOf(4, carried));
}

/** The first that contains an address decides. */
const special: readonly { range: IpRange; reach: IpReach }[] = [
  ...ranges("never", [
    "0.0.0.0/8",
    // Link-local; the metadata of most clouds.
    "169.254.0.0/16",
    // Alibaba's, Azure's and Oracle's metadata.
    "100.100.100.200/32",
    "168.63.129.16/32",
    "192.0.0.192/32",
    // Multicast, and what was never given out.
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "fe80::/10",
    "ff00::/8",
    // Amazon's and Google's metadata.
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
    // Teredo: the address inside is that of someone's router.
    "2001::/32",
  ]),
  ...ranges("private", [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.0.0.0/24",
    // Examples in documents.
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    // Relays of 6to4.
    "192.88.99.0/24",
    "192.168.0.0/16",
    // Benchmarks.
    "198.18.0.0/15",
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
  ]),
  // Whether they are public is up to the IPv4 address that they carry.
  ...ranges("public", ["64:ff9b::/96"]),
];

function ranges(reach: IpReach, texts: readonly string[]): { range: IpRange; reach: IpReach }[] {
  return texts.flatMap((text) => {
    const range = parseIpRange(text);
    return range === null ? [] : [{ range, reach }];
  });
}

function isGlobalUnicast(groups: Uint16Array): boolean {
  return ((groups[0] ?? 0) & 0xe000) === 0x2000;
}

/** The IPv4 address in 6to4, NAT64, ISATAP and "compatible" addresses, as `readIp` would give it. */
function findCarried(groups: Uint16Array): Uint16Array | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const toMapped = (high: number, low: number) => Uint16Array.of(0, 0, 0, 0, 0, 0xffff, high, low);
  if (a === 0x2002) return toMapped(b, c);
  const isNat64 = a === 0x64 && b === 0xff9b;
  const isIsatap = (e & 0xfdff) === 0 && f === 0x5efe;
  const isCompatible = (a | b | c | d | e | f) === 0 && (g !== 0 || h > 1);
  return isNat64 || isIsatap || isCompatible ? toMapped(g, h) : null;
}

function narrower(one: IpReach, other: IpReach): IpReach {
  if (one === "never" || other === "never") return "never";
  return one === "private" ? one : other;
}
