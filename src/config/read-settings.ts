/** Turns variables and flags into validated values and collects every problem on the way. */
import { parseEnvFile } from "./env-file.ts";
import type { FlagName, Setting } from "./setting.ts";
import { type SettingName, type SettingValues, settings } from "./settings.ts";
import { describeFileError, readText, withoutLineEnd } from "./text-file.ts";
import { BadValue } from "./values.ts";
import { judgeOfEnvFile, judgeOfEnvironment, type NameVerdict } from "./variable-names.ts";

export type Variables = Readonly<Record<string, string | undefined>>;
export type Flags = Partial<Record<FlagName, string | undefined>>;

export interface Problem {
  /** A full sentence that starts with the name of the setting. */
  sentence: string;
}

/** What was found on the way; `warnings` are of what has no effect. */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: string[];
}

const fileSuffix = "_FILE";

/** Variables from the file, overridden by the environment; in both, empty values count as unset. */
export function mergeVariables(
  environment: Variables,
  envFilePath: string | undefined,
  findings: Findings,
): Map<string, string> {
  const { problems } = findings;
  const merged = new Map<string, string>();
  if (envFilePath !== undefined) {
    const text = readText(envFilePath);
    if (text instanceof Error) problems.push({ sentence: `--env-file: ${describeFileError(text)}` });
    else {
      const file = parseEnvFile(text);
      for (const problem of file.problems) problems.push({ sentence: `${envFilePath} ${problem}` });
      for (const [name, line] of file.lines) take(judgeOfEnvFile(name), `${envFilePath} line ${line}: `, findings);
      for (const [name, value] of file.values) {
        if (value !== "" && judgeOfEnvFile(name) === null) merged.set(name, value);
      }
    }
  }
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === "") continue;
    merged.set(name, value);
    take(judgeOfEnvironment(name), "", findings);
  }
  return merged;
}

function take(verdict: NameVerdict | null, place: string, { problems, warnings }: Findings): void {
  if (verdict === null) return;
  const sentence = place + verdict.sentence;
  if (verdict.isProblem) problems.push({ sentence });
  else warnings.push(sentence);
}

export function readSettings(variables: Map<string, string>, flags: Flags, problems: Problem[]): SettingValues {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    values[name] = readSetting(settings[name], variables, flags, problems);
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
    flagText === undefined ? findText(one, variables, problems) : { source: `--${one.flag}`, text: flagText };
  if (found === null) return one.fallback;
  try {
    if (found.text === "") throw new BadValue("must not be empty.");
    return one.parse(found.text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    problems.push({ sentence: `${found.source} ${error.message}` });
    return one.fallback;
  }
}

function findText(
  one: Setting<unknown>,
  variables: Map<string, string>,
  problems: Problem[],
): { source: string; text: string } | null {
  const text = variables.get(one.variable);
  const fileVariable = one.variable + fileSuffix;
  const filePath = one.isSecret || one.hasFile ? variables.get(fileVariable) : undefined;
  if (filePath === undefined) return text === undefined ? null : { source: one.variable, text };
  if (text !== undefined) {
    problems.push({ sentence: `${one.variable} and ${fileVariable} are both set. Keep one of them.` });
    return null;
  }
  const content = readText(filePath);
  if (content instanceof Error) {
    problems.push({ sentence: `${fileVariable}: ${describeFileError(content)}` });
    return null;
  }
  return { source: `The content of ${fileVariable}`, text: withoutLineEnd(content) };
}
