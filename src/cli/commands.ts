/** Every command, in the order in which the help lists them. */
import { buildInfo } from "../lib/build-info.ts";
import type { CommandEntry } from "./command.ts";

const all: readonly CommandEntry[] = [
  { name: "serve", load: async () => (await import("./serve.ts")).serveCommand },
  { name: "account", load: async () => (await import("./account.ts")).accountCommand },
  { name: "key", load: async () => (await import("./key.ts")).keyCommand },
  { name: "companion", load: async () => (await import("./companion.ts")).companionCommand },
  { name: "knowledge", load: async () => (await import("./knowledge.ts")).knowledgeCommand },
  { name: "apply", load: async () => (await import("./apply.ts")).applyCommand },
  { name: "export", load: async () => (await import("./export.ts")).exportCommand },
  { name: "eval", load: async () => (await import("./eval.ts")).evalCommand },
  { name: "spending", load: async () => (await import("./spending.ts")).spendingCommand },
  { name: "backup", load: async () => (await import("./backup.ts")).backupCommand },
  { name: "backups", load: async () => (await import("./backups.ts")).backupsCommand },
  { name: "restore", load: async () => (await import("./restore.ts")).restoreCommand },
  { name: "copy", load: async () => (await import("./copy.ts")).copyCommand },
  { name: "migrate", load: async () => (await import("./migrate.ts")).migrateCommand },
  { name: "doctor", load: async () => (await import("./doctor.ts")).doctorCommand },
  { name: "update", load: async () => (await import("./update.ts")).updateCommand },
  { name: "completion", load: async () => (await import("./completion.ts")).completionCommand },
  { name: "version", load: async () => (await import("./version.ts")).versionCommand },
  {
    name: "backup-storage",
    isHidden: true,
    load: async () => (await import("./backup-storage.ts")).backupStorageCommand,
  },
  { name: "read-document", isHidden: true, load: async () => (await import("./read-document.ts")).readDocumentCommand },
];

/** A build without a key for releases trusts none, and does not offer `update`; called anyway, it reports the reason. */
export function makeCommands({ hasReleases }: { hasReleases: boolean }): readonly CommandEntry[] {
  return all.map((entry) => (entry.name === "update" && !hasReleases ? { ...entry, isHidden: true } : entry));
}

export const commands = makeCommands({ hasReleases: buildInfo.releasesKey !== null });
