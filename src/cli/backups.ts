/** `companiond backups`: which backups there are, here and in the storage, and whether one can be trusted. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { storageOf } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { BackupFacts } from "../contracts/store/engine.ts";
import { findMadeAtMs, isLocalName, writeMadeAt } from "../core/backups/names.ts";
import { AppError } from "../domain/errors.ts";
import { formatList } from "./columns.ts";
import { type Action, type ActionResult, type Command, CommandFailure, free } from "./command.ts";
import { askStorage } from "./storage-task.ts";
import { identityOption, requireOwnBackups, storageMark, withFetched } from "./stored-backup.ts";

interface Listed {
  name: string;
  created_at: string;
  bytes: number;
  where: "local" | "s3";
}

const list: Action = {
  name: "list",
  about: "Show all backups, newest first: scheduled ones here, those from before migrations, and those in the storage.",
  data: "reads",
  async run(input) {
    const config = requireOwnBackups(input.loadConfig());
    const local = listLocal(config);
    let stored: Listed[] = [];
    let problem: string | null = null;
    const storage = config.backup.storage;
    if (storage !== null) {
      try {
        const found = await askStorage(input.io.environment, storage, "list", { ageRecipient: null });
        stored = found.map(({ name, bytes }) => ({ name, created_at: writeMadeAt(name), bytes, where: "s3" }));
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
        problem = error.message;
        await input.io.writeError(`companiond: the storage could not be listed: ${problem}\n`);
      }
    }
    // A stored one comes before the local one of the same second.
    const data = [...stored, ...local].sort(
      (one, other) => (findMadeAtMs(other.name) ?? 0) - (findMadeAtMs(one.name) ?? 0),
    );
    const rows = data.map((one) => [one.name, one.created_at, String(one.bytes), one.where]);
    return {
      json: { data: data.map((one) => ({ ...one })) },
      text: formatList(["name", "created at", "bytes", "where"], rows, "There are no backups."),
      ...(problem === null ? {} : { isFailure: true }),
    };
  },
};

const verify: Action = {
  name: "verify",
  about:
    "Fetch a backup from the storage (the newest, or <name> as backups list shows it), check and open it as a restore " +
    "would, and report what is in it. Without a storage, and for the name of a local one, check that.",
  data: "reads",
  opensAsCaller: true,
  operands: [{ value: free("name"), isOptional: true }],
  options: identityOption,
  async run(input) {
    const config = requireOwnBackups(input.loadConfig());
    const given = input.args.operands[0] ?? null;
    const isMarked = given?.startsWith(storageMark) === true;
    const named = isMarked ? given?.slice(storageMark.length) || null : given;
    const isLocal = !isMarked && (named === null ? config.backup.storage === null : isLocalName(named));
    if (isLocal) return verifyLocal(config, named);
    return await withFetched(input, named, ({ name, bytes, file }) =>
      describe({ name, where: "s3", stored_bytes: bytes }, examineAs(config, file, name)),
    );
  },
};

export const backupsCommand: Command = {
  name: "backups",
  about: "Search the backups.",
  actions: [list, verify],
};

function listLocal({ backup: { dir } }: Config): Listed[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter(isLocalName)
    .map((name) => ({
      name,
      created_at: writeMadeAt(name),
      bytes: statSync(join(dir, name)).size,
      where: "local" as const,
    }));
}

function verifyLocal(config: Config, named: string | null): ActionResult {
  const local = listLocal(config).sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
  const found = named === null ? local[0] : local.find(({ name }) => name === named);
  if (found === undefined) {
    const what = named === null ? "no backup" : `no backup ${named}`;
    throw new CommandFailure(`There is ${what} in ${config.backup.dir}. List them with companiond backups list.`);
  }
  const facts = examineAs(config, join(config.backup.dir, found.name), found.name);
  return describe({ name: found.name, where: "local", stored_bytes: found.bytes }, facts);
}

function examineAs(config: Config, file: string, name: string): BackupFacts {
  try {
    return storageOf(config).examine(file);
  } catch (error) {
    throw error instanceof AppError ? renameIn(error, file, name) : error;
  }
}

/** The sentence speaks of a file that is gone when it is read. */
export function renameIn(error: AppError, file: string, name: string): AppError {
  return new AppError(error.code, error.message.replaceAll(file, name), { cause: error.cause });
}

function describe(
  { name, where, stored_bytes }: { name: string; where: "local" | "s3"; stored_bytes: number },
  { bytes, schemaVersion, accounts, companions, conversations, messages }: BackupFacts,
): ActionResult {
  const created_at = writeMadeAt(name);
  const json = { name, created_at, where, stored_bytes, bytes, schema_version: schemaVersion };
  return {
    json: { ...json, accounts, companions, conversations, messages },
    text:
      `${name} is good: made at ${created_at}, ${bytes} bytes (${stored_bytes} stored), schema ${schemaVersion}.\n` +
      `It holds ${count(accounts, "account")}, ${count(companions, "companion")}, ` +
      `${count(conversations, "conversation")} and ${count(messages, "message")}.`,
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
