/** The client's address and the address it requested, from the socket and the forwarded headers of trusted proxies. */
import { formatIpv4, formatIpv6, type IpVersion, isPrivateIp, readIp } from "../lib/ip-address.ts";

export interface ClientIp {
  /** Canonical; an IPv4-mapped address becomes IPv4. `unknown` without a socket. */
  readonly ip: string;
  /** What rate limits count: the IPv4 address, or the /64 of an IPv6 address, within which a client can move freely. */
  readonly limitSubject: string;
  /** The /56 and /48 networks around an IPv6 client, which are as easy to get; null for any other. */
  readonly networks: readonly [string, string] | null;
  /** Safe for logs: cut to /24 and /48. */
  readonly logPrefix: string;
  /** A forwarded header came from a loopback or private peer although no proxy is trusted: worth one warning. */
  readonly isForwardedByUntrusted: boolean;
}

/**
 * The client behind `trustedProxyCount` proxies. Only the entries of `X-Forwarded-For` that these proxies wrote count,
 * so what a client puts before them has no effect. If the entry that they vouch for is missing or not an address,
 * the next one to its right counts, and finally the socket's own: too strict rather than forgeable. `Forwarded` and
 * `X-Real-IP` are never used.
 */
export function clientIp(
  socketAddress: string | null,
  forwardedFor: string | null,
  trustedProxyCount: number,
): ClientIp {
  const socketVersion = socketAddress === null ? 0 : readEntry(socketAddress, 0, socketAddress.length, scratch);
  if (forwardedFor === null) return new Client(socketVersion, scratch, false);
  if (trustedProxyCount === 0) return new Client(socketVersion, scratch, isPrivateIp(socketVersion, scratch));
  const forwardedVersion = readForwarded(forwardedFor, trustedProxyCount, scratch);
  return new Client(forwardedVersion === 0 ? socketVersion : forwardedVersion, scratch, false);
}

/** Cuts an address to what logs may contain: /24 of IPv4, /48 of IPv6; `unknown` for anything else. */
export function toLogPrefix(ip: string): string {
  const version = readEntry(ip, 0, ip.length, scratch);
  if (version === 0) return unknown;
  if (version === 6) return `${formatIpv6(scratch, 3)}/48`;
  scratch[7] = (scratch[7] ?? 0) & 0xff00;
  return `${formatIpv4(scratch)}/24`;
}

export interface ForwardedBase {
  readonly protocol: "http" | "https";
  /** In lower case, with the port unless it is the protocol's default. */
  readonly host: string;
}

/**
 * Protocol and host that the client used: from `X-Forwarded-Proto` and `X-Forwarded-Host` of trusted proxies, otherwise
 * from `isTls` and `Host`. Both end up in links for others, so a host with unusual characters is dropped.
 */
export function forwardedBase(headers: Pick<Headers, "get">, trustedProxyCount: number, isTls: boolean): ForwardedBase {
  let isHttps = isTls;
  let host: string | null = null;
  // Reading a header costs more than everything else here.
  if (trustedProxyCount > 0) {
    const protocol = vouchedValue(headers.get("x-forwarded-proto"), trustedProxyCount)?.toLowerCase();
    isHttps = protocol === "https" || (protocol !== "http" && isTls);
    host = readHost(vouchedValue(headers.get("x-forwarded-host"), trustedProxyCount));
  }
  host ??= readHost(headers.get("host")) ?? "localhost";
  const ownPort = isHttps ? ":443" : ":80";
  return {
    protocol: isHttps ? "https" : "http",
    host: host.endsWith(ownPort) ? host.slice(0, -ownPort.length) : host,
  };
}

/** Whether the request has a `Host` header that is a valid host. */
export function hasUsualHost(request: Request): boolean {
  return readHost(request.headers.get("host")) !== null;
}

const unknown = "unknown";
const colon = 58;
const openBracket = 91;

// Shared by all requests: nothing awaits between reading and use.
const scratch = new Uint16Array(8);
const candidate = new Uint16Array(8);

class Client implements ClientIp {
  readonly ip: string;
  readonly limitSubject: string;
  readonly networks: readonly [string, string] | null;
  readonly isForwardedByUntrusted: boolean;
  readonly logPrefix: string;

  constructor(version: IpVersion, groups: Uint16Array, isForwardedByUntrusted: boolean) {
    this.ip = version === 4 ? formatIpv4(groups) : version === 6 ? formatIpv6(groups) : unknown;
    this.limitSubject = version === 6 ? `${formatIpv6(groups, 4)}/64` : this.ip;
    this.networks = version === 6 ? formatNetworks(groups) : null;
    this.isForwardedByUntrusted = isForwardedByUntrusted;
    this.logPrefix = toLogPrefix(this.ip);
  }
}

function formatNetworks(groups: Uint16Array): [string, string] {
  const fourth = groups[3] ?? 0;
  groups[3] = fourth & 0xff00;
  const by56 = `${formatIpv6(groups, 4)}/56`;
  groups[3] = fourth;
  return [by56, `${formatIpv6(groups, 3)}/48`];
}

/**
 * Leaves the outermost well-formed entry among the last `hops` in `groups`; returns 0 and changes nothing if there is
 * none.
 */
function readForwarded(list: string, hops: number, groups: Uint16Array): IpVersion {
  let found: IpVersion = 0;
  let end = list.length;
  for (let hop = 0; hop < hops && end > 0; ) {
    const start = list.lastIndexOf(",", end - 1) + 1;
    const entry = list.slice(start, end).trim();
    end = start - 1;
    // Lists may contain empty elements, though proxies never write one.
    if (entry === "") continue;
    hop++;
    const version = readEntry(entry, 0, entry.length, candidate);
    if (version === 0) continue;
    found = version;
    groups.set(candidate);
  }
  return found;
}

/** An address with optional decoration: `[…]`, `:port`, `%zone`. */
function readEntry(text: string, start: number, end: number, groups: Uint16Array): IpVersion {
  let first = start;
  let last = end;
  if (text.charCodeAt(first) === openBracket) {
    first++;
    last = text.indexOf("]", first);
    if (last < 0 || last >= end || !isPort(text, last + 1, end)) return 0;
  }
  const version = readIp(text, first, last, groups);
  if (version !== 0) return version;
  const zone = text.indexOf("%", first);
  if (zone >= 0 && zone < last) return readIp(text, first, zone, groups) === 6 ? 6 : 0;
  const port = text.indexOf(":", first);
  if (port < 0 || port >= last || !isPort(text, port, last)) return 0;
  return readIp(text, first, port, groups);
}

/** Empty, or a colon and one to five digits. */
function isPort(text: string, start: number, end: number): boolean {
  if (start === end) return true;
  if (text.charCodeAt(start) !== colon || end - start < 2 || end - start > 6) return false;
  for (let i = start + 1; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/**
 * The entry that the outermost trusted proxy wrote. Proxies that replace the header leave a single entry, which counts.
 */
function vouchedValue(list: string | null, hops: number): string | null {
  if (list === null || hops === 0) return null;
  const entries = list.split(",");
  return entries[Math.max(0, entries.length - hops)]?.trim() ?? null;
}

const hostShape = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

// A server has few names, and nearly every request has the same one as the request before.
let lastText = "";
let lastHost: string | null = null;

function readHost(text: string | null): string | null {
  if (text === null || text.length > 261) return null;
  if (text !== lastText) {
    lastText = text;
    lastHost = parseHost(text);
  }
  return lastHost;
}

function parseHost(text: string): string | null {
  const host = text.toLowerCase();
  // Some names match the pattern, but are not valid hosts: `1.2.3.4.5`, `xn--a`, port 99999.
  return hostShape.test(host) && URL.canParse(`http://${host}`) ? host : null;
}
