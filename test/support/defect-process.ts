/** A process with an unhandled rejection and an exception: `serving` handles them, `command` does not. */
import { openProcessIo } from "../../src/cli/process-io.ts";

const io = openProcessIo((exitCode) => process.exit(exitCode));
if (process.argv[2] === "serving") {
  io.onDefect((error) => console.log(`took ${error instanceof Error ? error.message : String(error)}`));
}
void Promise.reject(new Error("a rejection"));
setTimeout(() => {
  setTimeout(() => {
    console.log("still alive");
    process.exit(0);
  }, 1);
  throw new Error("an exception");
}, 1);
