/** The addresses of this machine's network interfaces, as far as the system gives them. */
import type { NetworkInterfaceInfo } from "node:os";

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
