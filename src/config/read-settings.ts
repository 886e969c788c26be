/** Turns variables and flags into validated values and collects every problem on the way. */
import { findNearest } from "../lib/edit-distance.ts";
import { parseEnvFile } from "./env-file.ts";
import type { FlagName, Setting } from "./setting.ts";
import { type SettingName, type SettingValues, settings } from "./settings.ts";
import { describeFileError, readText, withoutLineEnd } from "./text-file.ts";
import { BadValue } from "./values.ts";

export type Variables = Readonly<Record<string, string | undefined>>;
export type Flags = Partial<Record<FlagName, string | undefined>>;

export interface Problem {
  /** A full sentence that starts with the name of the setting. */
  sentence: string;
  /** Whether the problem is on the command line rather than in the environment. */
  isFlag: boolean;
}

const ownPrefix = "COMPANIOND_";
const fileSuffix = "_FILE";
const allSettings: readonly Setting<unknown>[] = Object.values(settings);
const knownVariables: readonly string[] = allSettings.flatMap((one) =>
  one.isSecret || one.hasFile ? [one.variable, one.variable + fileSuffix] : [one.variable],
);

/** Variables from the file, overridden by the environment; in both, empty values count as unset. */
export function mergeVariables(
  environment: Variables,
  envFilePath: string | undefined,
  problems: Problem[],
): Map<string, string> {
  const merged = new Map<string, string>();
  if (envFilePath !== undefined) {
    const text = readText(envFilePath);
    if (text instanceof Error) problems.push({ sentence: `--env-file: ${describeFileError(text)}`, isFlag: true });
    else {
      const file = parseEnvFile(text);
      for (const problem of file.problems) problems.push({ sentence: `${envFilePath} ${problem}`, isFlag: false });
      for (const [name, value] of file.values) if (value !== "") merged.set(name, value);
    }
  }
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") merged.set(name, value);
  }
  return merged;
}

export function readSettings(variables: Map<string, string>, flags: Flags, problems: Problem[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    values[name] = readSetting(settings[name], variables, flags, problems);
  }
  for (const name of variables.keys()) {
    if (!name.startsWith(ownPrefix) || knownVariables.includes(name)) continue;
    problems.push({ sentence: `${name} is not a setting. ${adviseOn(name)}`, isFlag: false });
  }
  return values as SettingValues;
}

function readSetting(
  one: Setting<unknown>,
  variables: Map<string, string>,
  flags: Flags,
  problems: Problem[],
): unknown {
  const flagText = one.flag === undefined ? undefined : flags[one.flag];
  const found =
    flagText === undefined
      ? findText(one, variables, problems)
      : { source: `--${one.flag}`, text: flagText, isFlag: true };
  if (found === null) return one.fallback;
  try {
    if (found.text === "") throw new BadValue("must not be empty.");
    return one.parse(found.text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    problems.push({ sentence: `${found.source} ${error.message}`, isFlag: found.isFlag });
    return one.fallback;
  }
}

function findText(
  one: Setting<unknown>,
  variables: Map<string, string>,
  problems: Problem[],
): { source: string; text: string; isFlag: false } | null {
  const text = variables.get(one.variable);
  const fileVariable = one.variable + fileSuffix;
  const filePath = one.isSecret || one.hasFile ? variables.get(fileVariable) : undefined;
  if (filePath === undefined) return text === undefined ? null : { source: one.variable, text, isFlag: false };
  if (text !== undefined) {
    problems.push({ sentence: `${one.variable} and ${fileVariable} are both set. Keep one of them.`, isFlag: false });
    return null;
  }
  const content = readText(filePath);
  if (content instanceof Error) {
    problems.push({ sentence: `${fileVariable}: ${describeFileError(content)}`, isFlag: false });
    return null;
  }
  return { source: `The content of ${fileVariable}`, text: withoutLineEnd(content), isFlag: false };
}

function adviseOn(name: string): string {
  // COMPANIOND_PORT means PORT. What all names begin with makes none of them near.
  const bareNames = new Map(knownVariables.map((known) => [withoutPrefix(known), known]));
  const nearest = findNearest(withoutPrefix(name), bareNames.keys());
  if (nearest === null) return "See companiond serve --help for those that there are.";
  return `Did you mean ${bareNames.get(nearest)}?`;
}

function withoutPrefix(name: string): string {
  return name.startsWith(ownPrefix) ? name.slice(ownPrefix.length) : name;
}
