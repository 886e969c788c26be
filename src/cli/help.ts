/** Help texts, generated from the declarations. */
import { type Setting, takesFile } from "../config/setting.ts";
import { settingSections } from "../config/settings.ts";
import { commonOptions } from "./arguments.ts";
import { formatColumns, wrapText } from "./columns.ts";
import { type Action, type Command, type OptionSpec, showOperand } from "./command.ts";

export function describeProgram(commands: readonly Command[]): string {
  const rows = commands.flatMap((command) =>
    command.actions.map((action) => [`  ${joinWords(command.name, action.name)}`, action.about]),
  );
  return [
    "companiond hosts conversational companions: one executable, nothing else to install.",
    "",
    "Usage: companiond <command> [options]",
    "",
    formatColumns(rows),
    "",
    "companiond <command> --help shows more. Settings come from flags, the environment and --env-file:",
    "companiond serve --help lists them.",
    "Exit codes: 0 success, 1 failure, 2 wrong use or a configuration that cannot be used.",
  ].join("\n");
}

export function describeCommand(command: Command): string {
  const rows = command.actions.map((action) => [`  ${joinWords(command.name, action.name)}`, action.about]);
  return [command.about, "", formatColumns(rows), "", `companiond ${command.name} <action> --help shows more.`].join(
    "\n",
  );
}

export function describeAction(command: Command, action: Action): string {
  const options = Object.entries({ ...action.options, ...commonOptions });
  const rows = options.map(([name, spec]) => [`  ${writeOption(name, spec)}`, describeOption(spec)]);
  const notes = command.makeNotes?.() ?? "";
  return [
    action.about,
    "",
    `Usage: ${describeUsage(command, action)}`,
    "",
    formatColumns(rows),
    ...(notes === "" ? [] : ["", notes]),
  ].join("\n");
}

export function describeUsage(command: Command, action: Action): string {
  const required = Object.entries(action.options ?? {}).filter(([, spec]) => spec.isRequired);
  const parts = [
    joinWords(command.name, action.name),
    ...required.map(([name, spec]) => (spec.short ? `-${spec.short} ${spec.value?.shown}` : writeOption(name, spec))),
  ];
  return `companiond ${[...parts, "[options]", ...(action.operands ?? []).map(showOperand)].join(" ")}`;
}

/** The list of settings for `serve --help`. */
export function describeSettings(): string {
  const sections = Object.entries(settingSections).map(([title, section]) => {
    const all: readonly Setting<unknown>[] = Object.values(section);
    return [`${title}:`, ...all.flatMap(describeSetting)].join("\n");
  });
  return [
    "Environment variables, all optional; flags win. [_FILE]: can also name a file that contains the value.",
    ...sections,
  ].join("\n\n");
}

function describeSetting(one: Setting<unknown>): string[] {
  const fallback = one.defaultText === "" ? "" : ` (${one.defaultText})`;
  return [
    `  ${one.variable}${takesFile(one) ? "[_FILE]" : ""}${fallback}`,
    ...wrapText(one.about, 90).map((line) => `      ${line}`),
  ];
}

function describeOption(spec: OptionSpec): string {
  if (spec.requiredUnless) return `${spec.about} Required, unless there is --${spec.requiredUnless}.`;
  if (spec.isRequired) return `${spec.about} Required.`;
  return spec.isRepeatable ? `${spec.about} Can be repeated.` : spec.about;
}

function writeOption(name: string, spec: OptionSpec): string {
  const names = spec.short === undefined ? `--${name}` : `-${spec.short}, --${name}`;
  return spec.value === undefined ? names : `${names} ${spec.value.shown}`;
}

function joinWords(...words: string[]): string {
  return words.filter((word) => word !== "").join(" ");
}
