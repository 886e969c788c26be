/** What can be typed where: the commands as shells complete them. */
import { commonOptions } from "../arguments.ts";
import type { Command } from "../command.ts";
import type { Operand, Value } from "../value.ts";

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
export interface Place {
  words: readonly string[];
  about: string;
  options: readonly CompletedOption[];
  operands: readonly Operand[];
}

export interface CompletedCommand {
  name: string;
  about: string;
  /** Empty for a command that is one action. */
  actions: readonly { name: string; about: string }[];
}

export interface Completed {
  commands: readonly CompletedCommand[];
  places: readonly Place[];
}

export function describeCompletions(commands: readonly Command[]): Completed {
  return {
    commands: commands.map(({ name, about, actions }) => ({
      name,
      about: shorten(about),
      actions: actions
        .filter((action) => action.name !== "")
        .map((action) => ({ name: action.name, about: shorten(action.about) })),
    })),
    places: commands.flatMap((command) =>
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
        operands: action.operands ?? [],
      })),
    ),
  };
}

/** As they are typed. */
export function typedNames({ name, short }: CompletedOption): string[] {
  return [`--${name}`, ...(short === null ? [] : [`-${short}`])];
}

/** The first sentence, without its full stop: there is one line for it. */
function shorten(about: string): string {
  return about.split(/\.(?: |$)/, 1)[0] ?? "";
}
