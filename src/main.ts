/** From the command line to a command; the only caller of process.exit. */
// First, so that a signal during start-up is not lost.
import "./cli/signals.ts";
import { accountCommand } from "./cli/account.ts";
import { backupCommand } from "./cli/backup.ts";
import type { Command } from "./cli/command.ts";
import { companionCommand } from "./cli/companion.ts";
import { doctorCommand } from "./cli/doctor.ts";
import { keyCommand } from "./cli/key.ts";
import { migrateCommand } from "./cli/migrate.ts";
import { openProcessIo } from "./cli/process-io.ts";
import { restoreCommand } from "./cli/restore.ts";
import { runCli } from "./cli/run.ts";
import { serveCommand } from "./cli/serve.ts";
import { versionCommand } from "./cli/version.ts";

const commands: readonly Command[] = [
  serveCommand,
  accountCommand,
  keyCommand,
  companionCommand,
  backupCommand,
  restoreCommand,
  migrateCommand,
  doctorCommand,
  versionCommand,
];

const io = openProcessIo((exitCode) => process.exit(exitCode));
const exitCode = await runCli(commands, process.argv.slice(2), io);
process.exit(exitCode);
