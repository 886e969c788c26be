/** The addresses of this machine's network interfaces, as far as the system gives them, and whether one is among them. */
import type { NetworkInterfaceInfo } from "node:os";
import { readIp } from "./ip-address.ts";

export type OwnAddress = Pick<NetworkInterfaceInfo, "address" | "family" | "internal">;

/** Null where a sandbox refuses to list them: on Linux that takes a socket of the family AF_NETLINK. */
export function listOwnAddresses(): OwnAddress[] | null {
  const { networkInterfaces } = process.getBuiltinModule("node:os");
  try {
    return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  } catch {
    return null;
  }
}

/**
 * Whether a connection to this IP address would have it at both ends: nothing is sent to find that out, and no sandbox has
 * to list interfaces for it. Of an address without a route it is unknown.
 */
export async function isOwnAddress(address: string): Promise<boolean> {
  if (listOwnAddresses()?.some((own) => isSame(own.address, address)) === true) return true;
  try {
    // The kernel chooses the near end of a datagram socket as it does for any other; the port does not matter.
    const connect = { hostname: address, port: 9 };
    const socket = await Bun.udpSocket({ hostname: address.includes(":") ? "::" : "0.0.0.0", connect });
    const near = socket.address.address;
    socket.close();
    return isSame(near, address);
  } catch {
    return false;
  }
}

function isSame(one: string, other: string): boolean {
  const [groups, others] = [new Uint16Array(8), new Uint16Array(8)];
  const isIp = readIp(one, 0, one.length, groups) !== 0 && readIp(other, 0, other.length, others) !== 0;
  return isIp && groups.every((group, at) => group === others[at]);
}
