/**
 * Databases and directories of tests, in memory where it has room: to write them to a disk takes half of the time of a test
 * that stores. What tests show of crashes they show with killed processes, which lose as little in either.
 */
import { chmodSync } from "node:fs";
import { quickDirectory } from "../test/support/temporary.ts";

/** For this process and those that it starts, until it is disposed or a signal ends the process. */
export function keepFilesInMemory(): Disposable {
  const directory = quickDirectory();
  // As the system's own: PostgreSQL and others run as users of their own.
  chmodSync(directory.path, 0o1777);
  process.env["TMPDIR"] = directory.path;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      directory[Symbol.dispose]();
      process.exit(1);
    });
  }
  return directory;
}
