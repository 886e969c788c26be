/** Sends datagrams to the socket at which systemd listens to its services (sd_notify(3)); Bun has no such sockets. */
import { findInC, ptr } from "../../lib/c-library.ts";

export interface NotifySocket {
  /** False if it was not accepted now, such as while the reader's queue is full. */
  send(text: string): boolean;
  /** CLOCK_MONOTONIC in microseconds, which is what systemd compares with. */
  nowUs(): bigint;
}

const [localFamily, datagramType, closeOnExec] = [1, 2, 0o2000000];
/** Never waits, and no signal for a reader that has left. */
const sendFlags = 0x40 | 0x4000;
const monotonicClock = 1;
/** Of `sockaddr_un`: two bytes for the family, and the path, which the kernel ends itself. */
const [pathAt, maxPath] = [2, 108];

/** Null where this cannot be done: no C library, or an address of another kind. */
export function openNotifySocket(name: string): NotifySocket | null {
  const address = makeAddress(name);
  const c = findInC({
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
    clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
  });
  if (address === null || c === null) return null;
  const descriptor = c.socket(localFamily, datagramType | closeOnExec, 0);
  if (descriptor < 0) return null;
  return {
    send(text) {
      const bytes = Buffer.from(text);
      const sent = c.sendto(descriptor, ptr(bytes), bytes.length, sendFlags, ptr(address), address.length);
      return Number(sent) === bytes.length;
    },
    nowUs() {
      const time = new BigInt64Array(2);
      c.clock_gettime(monotonicClock, ptr(time));
      return (time[0] ?? 0n) * 1_000_000n + (time[1] ?? 0n) / 1000n;
    },
  };
}

/** A path, or after `@` a name that is in no directory: there the first byte is zero. */
function makeAddress(name: string): Uint8Array | null {
  const isAbstract = name.startsWith("@");
  if (!isAbstract && !name.startsWith("/")) return null;
  const path = Buffer.from(isAbstract ? `\0${name.slice(1)}` : name);
  if (path.length > maxPath) return null;
  const address = Buffer.alloc(pathAt + path.length);
  address.writeUInt16LE(localFamily, 0);
  path.copy(address, pathAt);
  return address;
}
