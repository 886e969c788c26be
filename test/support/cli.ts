/** Runs commands in the test's own process, with the process around them replaced. */
import type { CliIo, Command } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { plainUser } from "../../src/cli/process-user.ts";
import { runCli } from "../../src/cli/run.ts";
import { engineEnvironment } from "./engine.ts";

export interface CliOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  environment?: Readonly<Record<string, string>>;
  input?: string;
  /** Whether a person reads standard output; no one does by default. */
  isTerminal?: boolean;
  /** Where standard error goes; with standard output by default. */
  errorTarget?: CliIo["errorTarget"];
  /** What someone at the terminal answers; without it, no one is there. */
  answer?: string;
  /** The env file of a service; there is none by default. */
  serviceSettings?: string;
  /** Additional commands, before the real ones. */
  commands?: readonly Command[];
}

export async function runCommand(words: readonly string[], options: CliOptions = {}): Promise<CliOutcome> {
  let stdout = "";
  let stderr = "";
  const dataDir = findDataDir(words, options.environment);
  const io: CliIo = {
    environment: { ...(dataDir === null ? {} : await engineEnvironment(dataDir)), ...options.environment },
    isTerminal: options.isTerminal ?? false,
    errorTarget: options.errorTarget ?? "output",
    canAsk: options.answer !== undefined,
    async ask(question) {
      stderr += question;
      return options.answer ?? "";
    },
    user: plainUser,
    serviceSettings: options.serviceSettings ?? "/nowhere/companiond.env",
    async writeOut(text) {
      stdout += text;
    },
    async writeError(text) {
      stderr += text;
    },
    readInput: async () => options.input ?? "",
    takeStopSignal: () => Promise.resolve("SIGTERM"),
    onReload() {},
    onDefect() {},
  };
  const own = (options.commands ?? []).map((command) => ({ name: command.name, load: async () => command }));
  const exitCode = await runCli([...own, ...commands], words, io);
  return { exitCode, stdout, stderr };
}

function findDataDir(words: readonly string[], environment: CliOptions["environment"]): string | null {
  const flag = words.indexOf("--data-dir");
  const named = flag === -1 ? environment?.["COMPANIOND_DATA_DIR"] : words[flag + 1];
  return named ?? null;
}

/** The JSON output of a command that must succeed. */
export async function runJson(words: readonly string[], options: CliOptions = {}): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], options);
  if (exitCode !== 0 || stderr !== "") throw new Error(`exit code ${exitCode}: ${stderr}`);
  return JSON.parse(stdout);
}
