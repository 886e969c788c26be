/** Makes what was written outlast a power failure. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Of a file its content; of a directory the names in it. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
