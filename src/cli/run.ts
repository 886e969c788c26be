/** Runs the command in the arguments and returns an exit code: 0 success, 1 failure, 2 wrong use. */

import type { Config } from "../config.ts";
import { ConfigError, loadConfig } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { systemClock } from "../lib/clock.ts";
import { findNearest } from "../lib/edit-distance.ts";
import { systemIds } from "../lib/ids.ts";
import type { OpenOptions } from "../store/engine.ts";
import type { Store } from "../store/store.ts";
import { readArguments } from "./arguments.ts";
import {
  type Action,
  type ActionInput,
  type Arguments,
  type CliIo,
  type Command,
  type CommandEntry,
  CommandFailure,
  Misuse,
} from "./command.ts";
import { describeAction, describeCommand, describeProgram } from "./help.ts";

export async function runCli(commands: readonly CommandEntry[], words: readonly string[], io: CliIo): Promise<number> {
  let hint = "companiond --help";
  try {
    const [first, ...others] = words;
    if (first === "help" && others.length > 0) return await runCli(commands, [...others, "--help"], io);
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
    const args = readArguments(action, rest);
    if (!args.has("help")) return await runAction(action, args, io);
    await io.writeOut(`${describeAction(command, action)}\n`);
    return 0;
  } catch (error) {
    return report(error, hint, io);
  }
}

async function runAction(action: Action, args: Arguments, io: CliIo): Promise<number> {
  let config: Config | null = null;
  const opened: Promise<Store>[] = [];
  const input: ActionInput = {
    args,
    isJson: args.has("json"),
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
      if (action.data !== "none") {
        io.user.enter(loaded.dataDir);
        if (action.opensAsCaller !== true) io.user.settle();
      }
      config = loaded;
      return loaded;
    },
    openStore({ isMigration = false } = {}) {
      const { data: use } = action;
      if (use === "none") throw new Error("the action does not say that it uses data");
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
    return result.isFailure ? 1 : 0;
  } finally {
    for (const store of opened) await store.then((one) => one.close());
  }
}

async function describeAll(commands: readonly CommandEntry[]): Promise<string> {
  const listed = commands.filter((command) => !command.isHidden);
  return describeProgram(await Promise.all(listed.map((command) => command.load())));
}

function loadCommand(commands: readonly CommandEntry[], name: string): Promise<Command> {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found.load();
  if (name.startsWith("-")) throw new Misuse("the command comes first, then its options.");
  const nearest = findNearest(
    name,
    commands.filter((command) => !command.isHidden).map((command) => command.name),
  );
  throw new Misuse(`unknown command ${JSON.stringify(name)}. Did you mean ${nearest}?`);
}

/** The action and the remaining words; null if only the command's help was requested. */
function findAction(command: Command, words: readonly string[]): [Action | null, readonly string[]] {
  const only = command.actions.find((action) => action.name === "");
  if (only !== undefined) return [only, words];
  const [name, ...rest] = words;
  const names = command.actions.map((action) => action.name);
  if (name === "--help" || name === "-h") return [null, rest];
  if (name === undefined || name.startsWith("-")) {
    throw new Misuse(`${command.name} needs one of: ${names.join(", ")}.`);
  }
  const found = command.actions.find((action) => action.name === name);
  if (found !== undefined) return [found, rest];
  throw new Misuse(
    `unknown action ${JSON.stringify(`${command.name} ${name}`)}. Did you mean ${findNearest(name, names)}?`,
  );
}

/** Loaded on demand: the server opens its store itself, and other commands need none. */
async function openStore(config: Config, options: Pick<OpenOptions, "isMigration" | "use">): Promise<Store> {
  return await (await import("../services.ts")).openStore(config, options);
}

async function report(error: unknown, hint: string, io: CliIo): Promise<number> {
  if (error instanceof Misuse) {
    await io.writeError(`companiond: ${error.message}\nSee ${hint}\n`);
    return 2;
  }
  if (error instanceof ConfigError) {
    await io.writeError(`companiond: the configuration has problems:\n${error.message}\n`);
    return error.problems.some((problem) => problem.isFlag) ? 2 : 1;
  }
  if (error instanceof AppError) {
    const fields = error.errors?.map((field) => `\n  ${field.param}: ${field.detail}`).join("");
    await io.writeError(`companiond: ${error.message}${fields ?? describeCause(error.cause)}\n`);
    return 1;
  }
  if (error instanceof CommandFailure) await io.writeError(`companiond: ${error.message}\n`);
  else await io.writeError(`companiond: unexpected error: ${describeUnknown(error)}\n`);
  return 1;
}

/** The operator at the terminal may read causes that network clients may not. */
function describeCause(cause: unknown): string {
  return cause instanceof Error ? `\n  ${cause.message}` : "";
}

function describeUnknown(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
