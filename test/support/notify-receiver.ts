/**
 * The other end of `NOTIFY_SOCKET`: a datagram socket that keeps what it receives, as systemd's does.
 *
 * Bun has no such sockets, so these are the C library's.
 */
import { dlopen, ptr } from "bun:ffi";
import { chmodSync } from "node:fs";
import { eventually } from "./eventually.ts";

export interface NotifyReceiver extends Disposable {
  /** All messages so far, each as its fields. */
  read(): readonly Readonly<Record<string, string>>[];
  /** Resolves when a message has had this field with this value. */
  told(field: string, value: string): Promise<void>;
}

const [localFamily, datagramType, dontWait] = [1, 2, 0x40];

/** At a path, or after `@` at an abstract name. */
export function receiveNotifications(name: string): NotifyReceiver {
  const { symbols: c } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    recv: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  });
  const descriptor = c.socket(localFamily, datagramType, 0);
  const path = name.startsWith("@") ? `\0${name.slice(1)}` : `${name}\0`;
  const address = Buffer.concat([Buffer.from([localFamily, 0]), Buffer.from(path)]);
  if (c.bind(descriptor, ptr(address), address.length) !== 0) throw new Error(`nobody can listen at ${name}`);
  // The service may be another user's.
  if (!name.startsWith("@")) chmodSync(name, 0o666);
  const messages: Record<string, string>[] = [];
  const buffer = Buffer.alloc(4096);

  function read(): readonly Record<string, string>[] {
    for (;;) {
      const length = Number(c.recv(descriptor, ptr(buffer), buffer.length, dontWait));
      if (length < 0) return messages;
      const lines = buffer.toString("utf8", 0, length).split("\n");
      messages.push(Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))));
    }
  }

  return {
    read,
    told: (field, value) =>
      eventually(() => read().some((message) => message[field] === value), { what: `${field}=${value}` }),
    [Symbol.dispose]: () => void c.close(descriptor),
  };
}
