/** Where other instances reach this one, unless the operator has set it. */
import { listOwnAddresses, type OwnAddress } from "../../lib/own-addresses.ts";

interface ListeningAddress {
  host: string;
  port: number;
  isTls: boolean;
}

const wildcards = ["0.0.0.0", "::"];

/**
 * The address that it listens on, as an origin; where it listens on all, this machine's first one that others can
 * reach, and loopback where there is none or the system lists none.
 */
export function ownUrlOf({ host, port, isTls }: ListeningAddress, listAddresses = listOwnAddresses): string {
  const address = wildcards.includes(host) ? findReachable(listAddresses() ?? [], host === "::") : host;
  const url = new URL(`${isTls ? "https" : "http"}://${address.includes(":") ? `[${address}]` : address}`);
  url.port = String(port);
  return url.origin;
}

function findReachable(addresses: readonly OwnAddress[], takesIpv6: boolean): string {
  const others = addresses.filter(({ address, internal }) => !internal && !isLinkLocal(address));
  const ipv4 = others.find(({ family }) => family === "IPv4");
  const ipv6 = takesIpv6 ? others.find(({ family }) => family === "IPv6") : undefined;
  // A machine without a network has no other instances but its own.
  return (ipv4 ?? ipv6)?.address ?? "127.0.0.1";
}

function isLinkLocal(address: string): boolean {
  return address.startsWith("169.254.") || /^fe[89ab]/i.test(address);
}
