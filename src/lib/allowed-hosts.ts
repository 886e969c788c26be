/** Decides which addresses the server may connect to for others: public ones, and what the operator lists. */
import { type IpVersion, readIp } from "./ip-address.ts";
import { type IpRange, isInRange, parseIpRange, reachOf } from "./ip-ranges.ts";

/** An exception of the operator's. */
export type AllowedHost =
  | {
      readonly kind: "host";
      /** As in a URL: lower case, IPv6 in brackets, no final dot. */
      readonly host: string;
      /** Null: any. */
      readonly port: number | null;
    }
  | { readonly kind: "range"; readonly range: IpRange };

/** `host`, `host:port` or a range of addresses; null if it is none of them. */
export function parseAllowedHost(text: string): AllowedHost | null {
  if (text.includes("/")) {
    const range = parseIpRange(text);
    return range && { kind: "range", range };
  }
  const isBareIpv6 = readIp(text, 0, text.length, new Uint16Array(8)) !== 0 && text.includes(":");
  const [, name, port = null] =
    /^(\[[^\]]+\]|[^\s:[\]?#@\\]+)(?::(\d{1,5}))?$/.exec(isBareIpv6 ? `[${text}]` : text) ?? [];
  const url = name === undefined ? null : URL.parse(`http://${name}/`);
  if (url === null || Number(port) > 65_535 || port === "0") return null;
  return { kind: "host", host: hostOf(url), port: port === null ? null : Number(port) };
}

/** Without the final dot, which names the same host. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, "");
}

/** Whether the exceptions name this very port of the host. */
export function isPortAllowed(allowed: readonly AllowedHost[], host: string, port: number): boolean {
  return allowed.some((one) => one.kind === "host" && one.host === host && one.port === port);
}

/** `listed`: by an exception, whether or not it is public. */
export type AddressStanding = "public" | "listed" | "refused";

/** Of `address`, for a URL with this host and port. Link-local addresses are no one's to allow. */
export function standingOf(
  allowed: readonly AllowedHost[],
  { host, port, address }: { host: string; port: number; address: string },
): AddressStanding {
  const groups = new Uint16Array(8);
  const version: IpVersion = readIp(address, 0, address.length, groups);
  const reach = version === 0 ? "never" : reachOf(version, groups);
  if (version === 0 || reach === "never") return "refused";
  const isListed = allowed.some((one) =>
    one.kind === "range"
      ? isInRange(version, groups, one.range)
      : one.host === host && (one.port === null || one.port === port),
  );
  if (isListed) return "listed";
  return reach === "public" ? "public" : "refused";
}
