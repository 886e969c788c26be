/** What can be typed after each command: the commands as shells complete them. */
import { commonOptions } from "../arguments.ts";
import type { Command, Operand, Value } from "../command.ts";

export interface CompletedOption {
  name: string;
  /** A letter; null for none. */
  short: string | null;
  about: string;
  /** Null for a switch. */
  value: Value | null;
  isRepeatable: boolean;
}

/** Where options and operands follow: a command, or a command with its action. */
export interface CompletedAction {
  words: readonly string[];
  about: string;
  options: readonly CompletedOption[];
  operands: readonly Operand[];
}

export interface CompletedCommand {
  name: string;
  about: string;
  /** Those with a name; empty for a command that is one action. */
  actions: readonly { name: string; about: string }[];
  /** Whether it is an action without a name as well, whose first operand follows where those have theirs. */
  isAction: boolean;
}

export interface Completed {
  commands: readonly CompletedCommand[];
  actions: readonly CompletedAction[];
}

export function describeCompletions(commands: readonly Command[]): Completed {
  return {
    commands: commands.map(({ name, about, actions }) => ({
      name,
      about: shorten(about),
      actions: actions
        .filter((action) => action.name !== "")
        .map((action) => ({ name: action.name, about: shorten(action.about) })),
      isAction: actions.some((action) => action.name === ""),
    })),
    actions: commands.flatMap((command) =>
      command.actions.map((action) => ({
        words: [command.name, action.name].filter((word) => word !== ""),
        about: shorten(action.about),
        options: Object.entries({ ...action.options, ...commonOptions }).map(([name, spec]) => ({
          name,
          short: spec.short ?? null,
          about: shorten(spec.about),
          value: spec.value ?? null,
          isRepeatable: spec.isRepeatable === true,
        })),
        operands: action.name === "" ? besideActions(command, action.operands ?? []) : (action.operands ?? []),
      })),
    ),
  };
}

/** As they are typed. */
export function typedNames({ name, short }: CompletedOption): string[] {
  return [`--${name}`, ...(short === null ? [] : [`-${short}`])];
}

/** The names of a command's other actions stand where the first operand of the one without a name does. */
function besideActions({ actions }: Command, operands: readonly Operand[]): readonly Operand[] {
  const names = actions.map(({ name }) => name).filter((name) => name !== "");
  return operands.map((operand, index) => {
    if (index > 0 || names.length === 0) return operand;
    return { ...operand, value: { ...operand.value, choices: [...operand.value.choices, ...names] } };
  });
}

/** `eval record`: actions beside one without a name. */
export function listActionsBeside(commands: readonly CompletedCommand[]): readonly (readonly [string, string])[] {
  const mixed = commands.filter(({ isAction }) => isAction);
  return mixed.flatMap(({ name, actions }) => actions.map((action) => [name, action.name] as const));
}

/** The first sentence, without its full stop: there is one line for it. */
function shorten(about: string): string {
  return about.split(/\.(?: |$)/, 1)[0] ?? "";
}
