/** Gives up root, and keeps of its rights only that to listen below 1024: each new certificate needs a new listener. */
import type { Config } from "../config/config.ts";
import { findInC, ptr } from "../lib/c-library.ts";

const keepCapabilities = 8;
const version3 = 0x20080522;
const netBindService = 1 << 10;

/** Whether the server listens below 1024, and will again: with each certificate, and when a port becomes free. */
export function needsLowPorts({ server: { port, tls, acme } }: Pick<Config, "server">): boolean {
  const isLow = (one: number) => one > 0 && one < 1024;
  return (isLow(port) && (tls !== null || acme !== null)) || (acme !== null && isLow(acme.httpPort));
}

/** `giveUp` changes the user for good. Throws if more rights than that would be left. Without a C library, none are. */
export function giveUpAllButPorts(giveUp: () => void): void {
  const c = findInC({
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    capset: { args: ["ptr", "ptr"], returns: "i32" },
  });
  // Of this thread alone, which is the one that listens.
  const keeps = c?.prctl(keepCapabilities, 1, 0, 0, 0) === 0;
  giveUp();
  if (c === null || !keeps) return;
  const header = new Uint32Array([version3, 0]);
  // Effective, permitted, inheritable; then the same for the capabilities from 32 up.
  const rights = new Uint32Array([netBindService, netBindService, 0, 0, 0, 0]);
  if (c.capset(ptr(header), ptr(rights)) === 0) return;
  // Root without the right to pass on has not even that one.
  rights.fill(0);
  if (c.capset(ptr(header), ptr(rights)) !== 0) throw new Error("the rights of root cannot be given up");
}
