/** Runs the command on the command line; the only caller of process.exit. */
// Must be first, so that a signal during start-up is not lost.
import "./cli/signals.ts";
import { commands } from "./cli/commands.ts";
import { openProcessIo } from "./cli/process-io.ts";
import { runCli } from "./cli/run.ts";

const io = openProcessIo((exitCode) => process.exit(exitCode));
const exitCode = await runCli(commands, process.argv.slice(2), io);
process.exit(exitCode);
