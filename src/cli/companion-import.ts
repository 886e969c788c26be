/** `companiond companion import`: creates companions from a file with one companion per line, up to a million. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Portion } from "../api/companions/portions.ts";
import { readNewCompanion, type SettingRules } from "../api/companions/read-settings.ts";
import type { NewCompanion, Store } from "../contracts/store/store.ts";
import type { Account } from "../domain/account.ts";
import { makeEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { readJsonLines } from "../lib/json-lines.ts";
import { type Action, type ActionInput, CommandFailure, file, free } from "./command.ts";
import { openAccount } from "./find-account.ts";
import { type NamedFile, openNamedFile } from "./named-file.ts";
import { createProgress, type Progress } from "./progress.ts";

const maxLineBytes = 1024 * 1024;

export const importAction: Action = {
  name: "import",
  about: "Create companions from a file with one JSON object per line; an interrupted import resumes when run again.",
  data: "writes",
  opensAsCaller: true,
  operands: [{ value: file }],
  options: {
    account: { value: free("email"), about: "The account that owns them.", isRequired: true },
    again: { about: "Import even if this file was imported into the account before." },
  },
  async run(input) {
    const { args, loadConfig } = input;
    const config = loadConfig();
    const file = openNamedFile(input.io.user, args.operand(0));
    const { store, account } = await openAccount(input, args.text("account"));
    const dailyMessages = config.messagesPerDay[account.plan];
    const rules = { ...config.llm, dailyMessages, voice: store.voice, accountId: account.id };
    const progress = createProgress(input.io, file.size * 2);
    const checked = await checkFile(input, file, rules, progress);
    const journalFile = openJournal(config.dataDir, account.id, checked.digest);
    const journal = beginJournal(input, journalFile);
    const resumedAt = journal.kept;
    await importFile(input, { store, account, file, rules, journal, journalFile, progress });
    await progress.clear();
    const imported = checked.count - resumedAt;
    return {
      json: { account: account.email, imported, resumed_at: resumedAt, total: checked.count },
      text:
        resumedAt === 0
          ? `Imported ${imported} companions into ${account.email}.`
          : `Imported the remaining ${imported} of ${checked.count} companions into ${account.email}.`,
    };
  },
};

/** Checks the whole file before anything is created; prints every fault with its line number, then fails. */
async function checkFile(
  { io }: ActionInput,
  file: NamedFile,
  rules: SettingRules,
  progress: Progress,
): Promise<{ count: number; digest: string }> {
  const digest = new Bun.SHA256();
  let count = 0;
  let faults = 0;
  const report = async (line: number, sentence: string) => {
    faults++;
    await progress.clear();
    await io.writeError(`line ${line}: ${sentence}\n`);
  };
  const lines = readJsonLines(file.stream(), maxLineBytes, (chunk) => {
    digest.update(chunk);
    progress.advance(chunk.length);
  });
  for await (const line of lines) {
    count++;
    if (line.problem !== null) {
      await report(line.number, line.problem);
      continue;
    }
    try {
      await readNewCompanion(line.value, rules);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "invalid_request") throw error;
      if (!error.errors) await report(line.number, "The line must be a JSON object.");
      for (const fault of error.errors ?? []) await report(line.number, `${fault.param}: ${fault.detail}`);
    }
  }
  await progress.clear();
  if (faults > 0)
    throw new CommandFailure(`the file has ${faults} fault${faults === 1 ? "" : "s"}; nothing was imported.`);
  return { count, digest: digest.digest("hex") };
}

function beginJournal({ args, clock, ids }: ActionInput, journalFile: JournalFile): ImportJournal {
  const earlier = journalFile.read();
  if (earlier !== null && earlier.finishedAt === null) return earlier;
  if (earlier !== null && !args.has("again")) {
    const when = new Date(earlier.finishedAt ?? 0).toISOString();
    throw new CommandFailure(`this file was imported into the account on ${when}. --again imports it once more.`);
  }
  const journal = { seed: ids.secret(32), startedAt: clock.nowMs(), kept: 0, finishedAt: null };
  journalFile.write(journal);
  return journal;
}

interface Import {
  store: Store;
  account: Account;
  file: NamedFile;
  rules: SettingRules;
  journal: ImportJournal;
  journalFile: JournalFile;
  progress: Progress;
}

async function importFile(input: ActionInput, run: Import): Promise<void> {
  const { journal, journalFile, progress } = run;
  let batch: NewCompanion[] = [];
  let portion = new Portion();
  let index = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    await keepBatch(input, run, batch);
    journal.kept += batch.length;
    journalFile.write(journal);
    batch = [];
  };
  const seeBytes = (chunk: Uint8Array) => progress.advance(chunk.length);
  for await (const line of readJsonLines(run.file.stream(), maxLineBytes, seeBytes)) {
    const id = importedId(journal, index++);
    if (index <= journal.kept) continue;
    if (!portion.takes(line.bytes)) {
      await flush();
      portion = new Portion();
      portion.takes(line.bytes);
    }
    batch.push({
      ...(await readNewCompanion(line.value, run.rules)),
      id,
      createdByKeyId: null,
      embedToken: { id: input.ids.uuid(), token: makeEmbedToken(input.ids.secret) },
    });
  }
  await flush();
  journalFile.write({ ...journal, finishedAt: input.clock.nowMs() });
}

async function keepBatch(input: ActionInput, { store, account }: Import, batch: NewCompanion[]): Promise<void> {
  // A batch is all or nothing. After a crash between its commit and the journal, its last companion already exists.
  const last = batch.at(-1);
  if (last && (await store.companions.find(account.id, last.id)) !== null) return;
  const startedMs = performance.now();
  await store.companions.createMany(account.id, batch, input.audit());
  // Leave the database to a running server for a while.
  await Bun.sleep((performance.now() - startedMs) / 4);
}

interface ImportJournal {
  /** Together with the line's position, determines the companion's id: a second run creates the same ids. */
  readonly seed: string;
  readonly startedAt: number;
  /** Companions known to be stored. */
  kept: number;
  finishedAt: number | null;
}

interface JournalFile {
  /** Null if no import of this file into this account was started. */
  read(): ImportJournal | null;
  write(journal: ImportJournal): void;
}

/**
 * Records how far the import got, so that an interrupted one resumes there and creates nothing twice. `digest` is
 * that of the imported file.
 */
function openJournal(dataDir: string, accountId: string, digest: string): JournalFile {
  const path = join(dataDir, "imports", `${accountId}-${digest.slice(0, 32)}.json`);
  return {
    read() {
      try {
        return JSON.parse(readFileSync(path, "utf8")) as ImportJournal;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    write(journal) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Renamed into place: after a crash there is the old journal or the new one, never half of one.
      rmSync(`${path}.new`, { force: true });
      writeFileSync(`${path}.new`, JSON.stringify(journal), { mode: 0o600, flag: "wx", flush: true });
      renameSync(`${path}.new`, path);
    },
  };
}

/** The UUIDv7 of the companion at `index` (from 0): sorts like the lines, and is the same in every run. */
export function importedId(journal: Pick<ImportJournal, "seed" | "startedAt">, index: number): string {
  const random = Bun.SHA256.hash(`${journal.seed} ${index}`, "hex");
  // A millisecond's counter has room for 4096 ids: a million ids run a quarter of a second ahead of the clock.
  const time = (journal.startedAt + Math.floor(index / 4096)).toString(16).padStart(12, "0");
  const counter = (index % 4096).toString(16).padStart(3, "0");
  const variant = ((Number.parseInt(random.slice(0, 1), 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${random.slice(1, 4)}-${random.slice(4, 16)}`;
}
