/** Opens whom an eval asks: companions of files, of an account of the data directory, or at a server. */
import { listFormFaults } from "../../api/companions/apply/read-items.ts";
import { openTried } from "../../api/companions/tried-companion.ts";
import type { OpenedEvals } from "../../app/eval-services.ts";
import type { Config } from "../../config/config.ts";
import type { FileFault } from "../../core/companion-files/marked-value.ts";
import { type AsCaller, FileRefusal } from "../../core/companion-files/named-files.ts";
import { type FileCompanion, readCompanionFiles } from "../../core/companion-files/read-companions.ts";
import type { EvalTarget } from "../../core/evals/asked.ts";
import type { Suite } from "../../core/evals/suite.ts";
import { createTrialTarget, type TriedCompanion } from "../../core/evals/trial-target.ts";
import { AppError } from "../../domain/errors.ts";
import type { ApiServer } from "../api-server.ts";
import { type ActionInput, CommandFailure, SettingFailure } from "../command.ts";
import { toFileFaults } from "../companion-sets/faults.ts";
import { openAccount } from "../find-account.ts";
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
  { suites, server }: { suites: readonly Suite[]; server: ApiServer | null },
): Promise<Opened> {
  if (options.where === "files") return await openFiles(input, options, suites);
  if (server === null) return await openOwn(input, options);
  return await openServer(input, options, { suites, server });
}

async function openFiles(input: ActionInput, options: EvalOptions, suites: readonly Suite[]): Promise<Opened> {
  const { io, args, loadConfig } = input;
  const { mode, model } = options;
  const asOwner: AsCaller = (path, work) => io.user.forFile(path, work);
  const { companions, faults } = await readCompanionFiles(args.list("file"), asOwner).catch(throwRefusal);
  const formFaults = toFileFaults(listFormFaults(companions.map(({ entry }) => entry)), companions) ?? [];
  if (faults.length + formFaults.length > 0) return { faults: [...faults, ...formFaults] };
  const models = [...listModels(companions), ...listJudges(suites), ...(model === null ? [] : [model])];
  const config = toAsked(loadConfig(), options);
  const { openEvalServices } = await import("../../app/eval-services.ts");
  try {
    const opened = await openEvalServices(config, { companions, mode, models, asCaller: asOwner }).catch(throwRefusal);
    return toTarget(opened, options, opened.find);
  } catch (error) {
    const errors = error instanceof AppError && error.code === "invalid_request" ? (error.errors ?? []) : [];
    const found = errors.length === 0 ? null : toFileFaults(errors, companions);
    if (found === null) throw error;
    return { faults: found };
  }
}

function throwRefusal(error: unknown): never {
  throw error instanceof FileRefusal ? new CommandFailure(`${error.message}.`) : error;
}

async function openOwn(input: ActionInput, options: EvalOptions): Promise<Opened> {
  const config = toAsked(input.loadConfig(), options);
  const { store, account } = await openAccount(input, input.args.text("account"));
  const { openOwnTrials } = await import("../../app/eval-services.ts");
  const trials = openOwnTrials(config, store);
  const { tried } = options;
  const asked = { draft: tried === "draft", ...(tried === null || tried === "draft" ? {} : tried), tool_results: {} };
  return toTarget({ ...trials, ...nothingRead }, options, async (slug) => {
    const companion = await store.companions.findBySlug(account.id, slug);
    if (companion === null) return null;
    const { companion: shown, tools } = await openTried(trials.services, companion, { message: "", ...asked });
    return { companion: shown, plan: account.plan, ...(tools === undefined ? {} : { tools }) };
  });
}

/** Judges are asked from here, since a server has no route for them. */
async function openServer(
  input: ActionInput,
  options: EvalOptions,
  { suites, server }: { suites: readonly Suite[]; server: ApiServer },
): Promise<Opened> {
  const { tried, model } = options;
  const asked = tried === "draft" ? { draft: true } : (tried ?? {});
  const remote = createUrlTarget(server, { tried: { ...asked, ...(model === null ? {} : { model }) }, signal });
  const hasJudges = suites.some(({ cases }) =>
    cases.some(({ turns }) => turns.some(({ expect }) => expect.some(({ type }) => type === "judge"))),
  );
  const judges = hasJudges ? await openJudges(input, options) : null;
  return {
    target: {
      ask: remote.ask,
      judge: (question) => {
        if (judges === null) throw new Error("no suite has a judge");
        return judges.judge({ ...question, companion: judgeSlug });
      },
    },
    has: remote.has,
    ...nothingRead,
    close: async () => judges?.close(),
  };
}

/** Of the companion in whose name judges are asked, in a store of this process alone. */
const judgeSlug = "judge";
const nothingRead = { problems: [], isRecordingMissing: false, listStale: async () => null };

async function openJudges({ loadConfig }: ActionInput, options: EvalOptions) {
  // What the server's companions are asked with is offered there.
  const config = toAsked(loadConfig(), { ...options, model: null });
  const { openEvalServices } = await import("../../app/eval-services.ts");
  const entry = { slug: judgeSlug, name: "Judge" };
  const companion: FileCompanion = { entry, file: "", uploads: [], lineOf: () => 1, isFaulty: () => false };
  const own = { companions: [companion], mode: { kind: "live" }, models: [], asCaller } as const;
  const { services, find, close } = await openEvalServices(config, own);
  return { judge: createTrialTarget(services, { find, signal }).judge, close };
}

/** For files of no one else's. */
const asCaller: AsCaller = (_, work) => work();

type Found = (slug: string) => Promise<TriedCompanion | null>;

function toTarget(
  opened: Omit<OpenedTarget, "target" | "has"> & Pick<OpenedEvals, "services" | "takeMiss">,
  { model }: EvalOptions,
  findCompanion: Found,
): OpenedTarget {
  const { services, takeMiss, problems, isRecordingMissing, listStale, close } = opened;
  const find: Found = async (slug) => {
    const found = await findCompanion(slug);
    return found && model !== null ? { ...found, companion: { ...found.companion, model } } : found;
  };
  const target = createTrialTarget(services, { find, signal, ...(takeMiss === undefined ? {} : { takeMiss }) });
  const has = async (slug: string) => (await findCompanion(slug)) !== null;
  return { target, has, problems, isRecordingMissing, listStale, close };
}

/** The settings by which providers are asked. Throws `SettingFailure` where there is none: no demo stands in for it unasked. */
function toAsked(config: Config, { mode, isDemo, model }: EvalOptions): Config {
  const { apiKey, baseUrl, providersFile, models } = config.llm;
  if (mode.kind === "replay") return config;
  if (isDemo) {
    const llm = { ...config.llm, apiKey: null, baseUrl: null, providersFile: null, embeddingModel: null };
    return { ...config, llm };
  }
  if (apiKey === null && baseUrl === null && providersFile === null) {
    throw new SettingFailure(
      "no language model is set: OPENAI_API_KEY, OPENAI_BASE_URL or COMPANIOND_PROVIDERS_FILE. --demo asks the built-in demo.",
    );
  }
  if (model !== null && !models.includes(model)) {
    throw new SettingFailure(
      `the model ${model} is not offered: COMPANIOND_MODEL and COMPANIOND_MODELS have ${models.join(", ")}.`,
    );
  }
  return config;
}

function listModels(companions: readonly FileCompanion[]): string[] {
  return companions.flatMap(({ entry: { model } }) => (typeof model === "string" ? [model] : []));
}

function listJudges(suites: readonly Suite[]): string[] {
  const checks = suites.flatMap(({ cases }) => cases.flatMap(({ turns }) => turns.flatMap(({ expect }) => expect)));
  return checks.flatMap((check) => (check.type === "judge" && check.model !== null ? [check.model] : []));
}
