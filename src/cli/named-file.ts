/** Files that the command line names: opened once as the caller, and read from there as often as needed. */
import { constants, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "../lib/error-code.ts";
import { CommandFailure } from "./command.ts";
import type { ProcessUser } from "./process-user.ts";

/** It stays open until the process ends. */
export interface NamedFile {
  readonly size: number;
  /** All of it, each time from its beginning. */
  stream(): AsyncIterable<Uint8Array>;
  read(): Uint8Array<ArrayBuffer>;
}

const pieceBytes = 256 * 1024;

/** Throws `CommandFailure` with the path and why it cannot be read. */
export function openNamedFile(user: ProcessUser, path: string): NamedFile {
  // Without waiting for the writer of a pipe.
  const file = user.forFile(path, () => open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)));
  const facts = fstatSync(file);
  if (!facts.isFile()) throw new CommandFailure(`${path}: not a regular file. Name the files of a directory.`);
  return {
    size: facts.size,
    async *stream() {
      for (let at = 0; ; ) {
        const piece = new Uint8Array(pieceBytes);
        const length = readSync(file, piece, 0, pieceBytes, at);
        if (length === 0) return;
        at += length;
        yield piece.subarray(0, length);
        // What it is read for has its turn in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    read() {
      const bytes = new Uint8Array(facts.size);
      let at = 0;
      for (let length = -1; length !== 0 && at < bytes.length; at += length) {
        length = readSync(file, bytes, at, bytes.length - at, at);
      }
      return bytes.subarray(0, at);
    },
  };
}

function open(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const code = codeOf(error) || "no reason given";
    if (code === "ENOENT") throw new CommandFailure(`file not found: ${path}.`);
    throw new CommandFailure(`${path}: cannot be read (${code}).`);
  }
}
