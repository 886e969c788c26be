/** Opens whom an eval asks: companions of files, of an account of the data directory, or at a server. */
import { listFormFaults } from "../../api/companions/apply/read-items.ts";
import { openTried } from "../../api/companions/tried-companion.ts";
import type { Config } from "../../config/config.ts";
import { FileRefusal } from "../../core/companion-files/named-files.ts";
import type { FileFault } from "../../core/companion-files/marked-value.ts";
import { type FileCompanion, readCompanionFiles } from "../../core/companion-files/read-companions.ts";
import type { EvalTarget } from "../../core/evals/asked.ts";
import type { Suite } from "../../core/evals/suite.ts";
import { createTrialTarget, type TriedCompanion } from "../../core/evals/trial-target.ts";
import { AppError } from "../../domain/errors.ts";
import { type ActionInput, CommandFailure, SettingFailure } from "../command.ts";
import { toFileFaults } from "../companion-sets/faults.ts";
import { openAccount } from "../find-account.ts";
import type { RemoteServer } from "../remote-server.ts";
import type { EvalOptions } from "./options.ts";
import { createUrlTarget } from "./url-target.ts";

export interface OpenedTarget {
  readonly target: EvalTarget;
  has(slug: string): Promise<boolean>;
  readonly problems: readonly string[];
  readonly isRecordingMissing: boolean;
  listStale(): Promise<readonly string[] | null>;
  close(): Promise<void>;
}

type Opened = OpenedTarget | { readonly faults: readonly FileFault[] };

/** Nothing of it is stopped but by the end of the process. */
const { signal } = new AbortController();

export async function openTarget(
  input: ActionInput,
  options: EvalOptions,
  { suites, server }: { suites: readonly Suite[]; server: RemoteServer | null },
): Promise<Opened> {
  if (options.where === "files") return await openFiles(input, options, suites);
  if (server === null) return await openOwn(input, options);
  return await openServer(input, options, { suites, server });
}

async function openFiles(input: ActionInput, options: EvalOptions, suites: readonly Suite[]): Promise<Opened> {
  const { io, args, loadConfig } = input;
  const { mode, model } = options;
  const asCaller = <Result>(path: string, work: () => Result) => io.user.forFile(path, work);
  const { companions, faults } = await readCompanionFiles(args.list("file"), asCaller).catch((error: unknown) => {
    throw error instanceof FileRefusal ? new CommandFailure(`${error.message}.`) : error;
  });
  const formFaults = toFileFaults(listFormFaults(companions.map(({ entry }) => entry)), companions) ?? [];
  if (faults.length + formFaults.length > 0) return { faults: [...faults, ...formFaults] };
  const models = [...listModels(companions), ...listJudges(suites), ...(model === null ? [] : [model])];
  const config = toAsked(loadConfig(), options);
  const { openEvalServices } = await import("../../app/eval-services.ts");
  try {
    const opened = await openEvalServices(config, { companions, mode, models, asCaller });
    return toTarget(opened, options, opened.find);
  } catch (error) {
    const errors = error instanceof AppError && error.code === "invalid_request" ? (error.errors ?? []) : [];
    const found = errors.length === 0 ? null : toFileFaults(errors, companions);
    if (found === null) throw error;
    return { faults: found };
  }
}

async function openOwn(input: ActionInput, options: EvalOptions): Promise<Opened> {
  const config = toAsked(input.loadConfig(), options);
  const { store, account } = await openAccount(input, input.args.text("account"));
  const { openOwnTrials } = await import("../../app/eval-services.ts");
  const trials = openOwnTrials(config, store);
  const { tried } = options;
  const asked = { draft: tried === "draft", ...(tried === null || tried === "draft" ? {} : tried), tool_results: {} };
  return toTarget({ ...trials, problems: [], isRecordingMissing: false, listStale: async () => null }, options, async (slug) => {
    const companion = await store.companions.findBySlug(account.id, slug);
    if (companion === null) return null;
    const { companion: shown, tools } = await openTried(trials.services, companion, { message: "", ...asked });
    return { companion: shown, plan: account.plan, ...(tools === undefined ? {} : { tools }) };
  });
}
