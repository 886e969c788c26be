/** `companiond apply`: brings an account's companions to what files have. */
import { pruneModes } from "../api/companions/apply/model.ts";
import { listFormFaults } from "../api/companions/apply/read-items.ts";
import type { ApplyResult } from "../api/companions/apply/responses.ts";
import { FileRefusal } from "../core/companion-files/named-files.ts";
import {
  type CompanionFiles,
  type FileCompanion,
  readCompanionFiles,
} from "../core/companion-files/read-companions.ts";
import { AppError } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { ApiRefusal } from "./api-server.ts";
import { type ActionInput, CommandFailure, file, free, Misuse, oneOf, singleCommand, type Value } from "./command.ts";
import { toFileFaults, writeFaults } from "./companion-sets/faults.ts";
import { prepareTarget, targetOptions } from "./companion-sets/open-target.ts";
import { clean, describePlan } from "./companion-sets/plan-text.ts";
import type { SentUpload, SetTarget } from "./companion-sets/target.ts";
import { openNamedFile } from "./named-file.ts";

const path: Value = { ...file, shown: "<path>" };

/** With `--dry-run`, where something would change. */
const wouldChange = 5;

export const applyCommand = singleCommand(
  {
    name: "apply",
    about: "Bring companions to what files in a repository have, all or none.",
    data: "writes",
    opensAsCaller: true,
    operands: [{ value: path, isOptional: true, isRepeatable: true }],
    options: {
      file: {
        value: path,
        short: "f",
        about: "A file, or a folder without its subfolders.",
        isRequired: true,
        isRepeatable: true,
      },
      ...targetOptions,
      set: { value: free("name"), about: "The set whose members the files hold (default)." },
      "dry-run": { about: "Only show what would change." },
      prune: { value: oneOf(pruneModes), about: "What becomes of members of the set that the files lack (off)." },
      "prune-max": { value: free("number"), about: "Refuse to prune more than these (5)." },
      overwrite: { about: "Also where someone else changed what the files name, or another set holds it." },
      note: { value: free("text"), about: "Why, for the list of versions." },
      yes: { about: "With --prune delete: do not ask." },
    },
    async run(input) {
      const { args, io } = input;
      const options = readOptions(input);
      const isDelete = options["prune"] === "delete" && options["dry_run"] !== true && !args.has("yes");
      if (isDelete && !io.canAsk) throw new Misuse("--prune delete asks before it deletes: add --yes to do it.");
      const openTarget = prepareTarget(input);
      const asCaller = <Result>(path: string, work: () => Result) => io.user.forFile(path, work);
      const files = await readFiles([...args.list("file"), ...args.operands], asCaller);
      await requireSound(input, files);
      const uploads = openUploads(input, files.companions);
      const target = await openTarget(args.find("note") ?? null);
      const body: JsonObject = { ...options, companions: files.companions.map(({ entry }) => entry) };
      if (isDelete && !(await mayDelete(input, target, body))) throw new CommandFailure("nothing was applied.");
      const result = await explained(input, files.companions, () => target.apply(body));
      const failed = result.applied ? await sendUploads(target, body, result, uploads) : [];
      for (const sentence of failed) await io.writeError(`companiond: ${sentence}\n`);
      return {
        json: { ...result } as unknown as JsonValue,
        text: await describePlan(result),
        exitCode: findExitCode(result),
      };
    },
  },
  () =>
    "Exit codes: 0 applied or unchanged, 1 a fault or a conflict (with --dry-run also where it would be refused), 2 wrong use,\n" +
    `${wouldChange} with --dry-run where something would change.`,
);

function readOptions({ args }: ActionInput): JsonObject {
  const pruneMax = args.find("prune-max");
  if (pruneMax !== undefined && !/^\d{1,6}$/.test(pruneMax)) throw new Misuse("--prune-max must be a number.");
  const [set, prune, note] = ["set", "prune", "note"].map((name) => args.find(name));
  if (prune !== undefined && !pruneModes.some((mode) => mode === prune)) {
    throw new Misuse(`--prune must be one of ${pruneModes.join(", ")}.`);
  }
  return {
    ...(set === undefined ? {} : { set }),
    ...(prune === undefined ? {} : { prune }),
    ...(pruneMax === undefined ? {} : { prune_max: Number(pruneMax) }),
    ...(note === undefined ? {} : { note }),
    ...{ overwrite: args.has("overwrite"), dry_run: args.has("dry-run") },
  };
}

type CallersFiles = Parameters<typeof readCompanionFiles>[1];

async function readFiles(paths: readonly string[], asCaller: CallersFiles): Promise<CompanionFiles> {
  try {
    return await readCompanionFiles(paths, asCaller);
  } catch (error) {
    if (error instanceof FileRefusal) throw new CommandFailure(`${error.message}.`);
    throw error;
  }
}

/** What is wrong with the files is reported together, before anything is asked of a server. */
async function requireSound({ io }: ActionInput, { companions, faults }: CompanionFiles): Promise<void> {
  const formFaults = toFileFaults(listFormFaults(companions.map(({ entry }) => entry)), companions) ?? [];
  const all = [...faults, ...formFaults];
  if (all.length === 0) return;
  await io.writeError(writeFaults(all));
  throw faulty(all.length);
}

function faulty(count: number): CommandFailure {
  return new CommandFailure(`the files have ${count} fault${count === 1 ? "" : "s"}; nothing was applied.`);
}

/** What the server finds wrong, with file and line. */
async function explained<Result>(
  { io }: ActionInput,
  companions: readonly FileCompanion[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isConflict(error)) throw new CommandFailure(clean(inOptions(error.message)));
    const errors = error instanceof AppError && error.code === "invalid_request" ? (error.errors ?? []) : [];
    const faults = errors.length === 0 ? null : toFileFaults(errors, companions);
    if (faults === null) throw error;
    await io.writeError(writeFaults(faults));
    throw faulty(faults.length);
  }
}

function isConflict(error: unknown): error is AppError | ApiRefusal {
  return (error instanceof AppError || error instanceof ApiRefusal) && error.code === "conflict";
}

/** What the API calls members of the request are options here. */
function inOptions(sentence: string): string {
  return sentence.replace("Send overwrite", "Add --overwrite").replace("prune_max", "--prune-max");
}

/** Shows what would be deleted. */
async function mayDelete({ io }: ActionInput, target: SetTarget, body: JsonObject): Promise<boolean> {
  const { plan } = await target.apply({ ...body, dry_run: true });
  const deleted = plan.filter(({ action }) => action === "delete").map(({ slug }) => slug);
  if (deleted.length === 0) return true;
  const answer = await io.ask(`Delete ${deleted.join(", ")} with their conversations? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}

type Upload = Omit<SentUpload, "companionId" | "bytes"> & { companion: JsonValue; read(): SentUpload["bytes"] };

/** Opened as the caller, and read when they are sent: hundreds of them would not fit into memory. */
function openUploads({ io }: ActionInput, companions: readonly FileCompanion[]): Upload[] {
  return companions.flatMap(({ entry, uploads }) =>
    uploads.map(({ sourceSlug, path, name }) => {
      const sources = entry["sources"] as JsonObject[];
      const opened = openNamedFile(io.user, path);
      const title = sources.find(({ slug }) => slug === sourceSlug)?.["title"];
      return {
        ...{
          companion: entry["slug"] ?? null,
          slug: sourceSlug,
          name,
          title: typeof title === "string" ? title : null,
        },
        read: opened.read,
      };
    }),
  );
}

/** Those whose bytes the server does not have; then they are recorded as applied. Returns sentences about failures. */
async function sendUploads(
  target: SetTarget,
  body: JsonObject,
  { plan }: ApplyResult,
  uploads: readonly Upload[],
): Promise<readonly string[]> {
  let sent = 0;
  for (const { companion, read, ...upload } of uploads) {
    const item = plan.find(({ slug }) => slug === companion);
    const isSent = item?.changes.some(({ field }) => field === `sources.${upload.slug}`);
    if (item?.id == null || isSent !== true) continue;
    await target.sendUpload({ ...upload, companionId: item.id, bytes: read() });
    sent++;
  }
  if (sent > 0) await target.apply({ ...body, prune: "off" });
  return await target.finish();
}

function findExitCode({ plan, applied }: ApplyResult): number {
  if (applied) return 0;
  if (plan.some(({ action }) => action === "drift")) return 1;
  return plan.every(({ action }) => action === "unchanged") ? 0 : wouldChange;
}
