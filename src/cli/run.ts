/** Runs the command in the arguments and returns an exit code: 0 success, 1 failure, 2 wrong use or configuration. */
import { type Config, loadConfig } from "../config/config.ts";
import type { OpenOptions } from "../contracts/store/engine.ts";
import type { Store } from "../contracts/store/store.ts";
import { systemClock } from "../lib/clock.ts";
import { findNearest } from "../lib/edit-distance.ts";
import { systemIds } from "../lib/ids.ts";
import { readArguments } from "./arguments.ts";
import {
  type Action,
  type ActionInput,
  type Arguments,
  type CliIo,
  type Command,
  type CommandEntry,
  Misuse,
} from "./command.ts";
import { explainFailure, logFailure } from "./failure.ts";
import { describeAction, describeCommand, describeProgram } from "./help.ts";
import { pointToSettings } from "./unread-settings.ts";

export async function runCli(commands: readonly CommandEntry[], words: readonly string[], io: CliIo): Promise<number> {
  let hint = "companiond --help";
  let failing: Action | null = null;
  try {
    const [first, ...others] = words;
    if (first === "help" && others.length > 0) return await runCli(commands, [...others, "--help"], io);
    // A file of this name would be `./help`.
    if (others.length === 1 && others[0] === "help")
      return await runCli(commands, [...words.slice(0, 1), "--help"], io);
    if (first === undefined) {
      await io.writeError(`${await describeAll(commands)}\n`);
      return 2;
    }
    if (first === "--help" || first === "help" || first === "-h") {
      await io.writeOut(`${await describeAll(commands)}\n`);
      return 0;
    }
    const command = await loadCommand(commands, first === "--version" ? "version" : first);
    hint = `companiond ${command.name} --help`;
    const [action, rest] = findAction(command, others);
    if (action === null) {
      await io.writeOut(`${describeCommand(command)}\n`);
      return 0;
    }
    hint = `companiond ${[command.name, action.name].filter(Boolean).join(" ")} --help`;
    failing = action;
    const args = readArguments(action, rest);
    if (!args.has("help")) return await runAction(action, args, io, () => loadListed(commands));
    await io.writeOut(`${describeAction(command, action)}\n`);
    return 0;
  } catch (error) {
    const failure = explainFailure(error, hint);
    const isJson = words.includes("--json");
    if (failing?.hasLog !== true || (io.isTerminal && !isJson)) await io.writeError(failure.text);
    else await logFailure(failure, io, isJson);
    return failure.exitCode;
  }
}

async function runAction(
  action: Action,
  args: Arguments,
  io: CliIo,
  listCommands: ActionInput["listCommands"],
): Promise<number> {
  let config: Config | null = null;
  const opened: Promise<Store>[] = [];
  let warned = Promise.resolve();
  const input: ActionInput = {
    args,
    isJson: args.has("json"),
    listCommands,
    loadConfig() {
      if (config !== null) return config;
      const loaded = loadConfig({
        ...(io.environment === undefined ? {} : { environment: io.environment }),
        envFilePath: args.find("env-file"),
        flags: {
          host: args.find("host"),
          port: args.find("port"),
          "data-dir": args.find("data-dir"),
          domain: args.find("domain"),
          demo: args.has("demo"),
          "tls-cert": args.find("tls-cert"),
          "tls-key": args.find("tls-key"),
        },
      });
      if (action.data !== "none" && action.sparesData?.(args) !== true) {
        io.user.enter(loaded.dataDir);
        if (action.opensAsCaller !== true) io.user.settle();
      }
      config = loaded;
      const warnings = action.tellsIdle === true ? [] : loaded.warnings;
      if (warnings.length > 0) warned = io.writeError(warnings.map((one) => `companiond: warning: ${one}\n`).join(""));
      return loaded;
    },
    openStore({ isMigration = false } = {}) {
      const { data: use } = action;
      if (use === "none") throw new Error("the action does not declare that it uses data");
      const loaded = input.loadConfig();
      io.user.settle();
      const [store = openStore(loaded, { isMigration, use })] = opened;
      opened[0] = store;
      return store;
    },
    audit: () => ({
      actor: { kind: "cli", id: null, ipPrefix: null, requestId: null },
      nowMs: systemClock.nowMs(),
      auditId: systemIds.uuid(),
    }),
    ids: systemIds,
    clock: systemClock,
    io,
  };
  try {
    const result = await action.run(input);
    if (result === null) return 0;
    await io.writeOut(`${input.isJson ? JSON.stringify(result.json) : result.text}\n`);
    if (result.exitCode !== undefined) return result.exitCode;
    if (result.isMisuse) return 2;
    return result.isFailure ? 1 : 0;
  } catch (error) {
    throw config === null ? error : pointToSettings(error, config, io.serviceSettings);
  } finally {
    await warned;
    for (const store of opened) {
      // Why one could not be opened, the action has met itself.
      const one = await store.catch(() => null);
      await one?.close();
    }
  }
}

async function describeAll(commands: readonly CommandEntry[]): Promise<string> {
  return describeProgram(await loadListed(commands));
}

function loadListed(commands: readonly CommandEntry[]): Promise<Command[]> {
  return Promise.all(commands.filter((command) => !command.isHidden).map((command) => command.load()));
}

function loadCommand(commands: readonly CommandEntry[], name: string): Promise<Command> {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found.load();
  if (name.startsWith("-")) throw new Misuse("the command comes first, then its options.");
  const nearest = findNearest(
    name,
    commands.filter((command) => !command.isHidden).map((command) => command.name),
  );
  throw new Misuse(`unknown command ${JSON.stringify(name)}.${suggest(nearest)}`);
}

/** The action and the remaining words; null if only the command's help was requested. */
function findAction(command: Command, words: readonly string[]): [Action | null, readonly string[]] {
  const [name, ...rest] = words;
  const only = command.actions.find((action) => action.name === "");
  if (only !== undefined) {
    // A file of that name would be `./record`.
    const beside = command.actions.find((action) => action.name !== "" && action.name === name);
    return beside === undefined ? [only, words] : [beside, rest];
  }
  const names = command.actions.map((action) => action.name);
  if (name === "--help" || name === "-h") return [null, rest];
  if (name === undefined || name.startsWith("-")) {
    throw new Misuse(`${command.name} needs one of: ${names.join(", ")}.`);
  }
  const found = command.actions.find((action) => action.name === name);
  if (found !== undefined) return [found, rest];
  const nearest = findNearest(name, names);
  throw new Misuse(`unknown action ${JSON.stringify(`${command.name} ${name}`)}.${suggest(nearest)}`);
}

/** Nothing where no name is near: the hint to the help follows. */
function suggest(nearest: string | null): string {
  return nearest === null ? "" : ` Did you mean ${nearest}?`;
}

/** Loaded on demand: the server opens its store itself, and other commands need none. */
async function openStore(config: Config, options: Pick<OpenOptions, "isMigration" | "use">): Promise<Store> {
  return await (await import("../app/services.ts")).openStore(config, options);
}
