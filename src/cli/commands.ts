/** Every command, in the order in which the help lists them. */
import { accountCommand } from "./account.ts";
import { backupCommand } from "./backup.ts";
import type { Command } from "./command.ts";
import { companionCommand } from "./companion.ts";
import { doctorCommand } from "./doctor.ts";
import { keyCommand } from "./key.ts";
import { migrateCommand } from "./migrate.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";
import { versionCommand } from "./version.ts";

export const commands: readonly Command[] = [
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
