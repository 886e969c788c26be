/** A file that a command writes at its end, opened at its beginning: as the caller, and before anything is paid for. */
import { constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { codeOf } from "../../lib/error-code.ts";
import { CommandFailure } from "../command.ts";
import type { ProcessUser } from "../process-user.ts";

export interface OutputFile {
  readonly path: string;
  /** Empty for a file that was not there. */
  readonly text: string;
  replace(text: string): void;
}

/** Throws `CommandFailure` if it cannot be written. */
export function openOutputFile(path: string, user: ProcessUser): OutputFile {
  try {
    const descriptor = user.forFile(path, () => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644));
    // A device, such as /dev/null, has no text, and no position.
    const isRegular = fstatSync(descriptor).isFile();
    return {
      path,
      text: isRegular ? readFileSync(descriptor, "utf8") : "",
      replace(text) {
        if (isRegular) ftruncateSync(descriptor, 0);
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; ) {
          at += writeSync(descriptor, bytes, at, bytes.length - at, isRegular ? at : null);
        }
      },
    };
  } catch (error) {
    throw new CommandFailure(`${path}: cannot be written (${codeOf(error) || String(error)}).`);
  }
}
