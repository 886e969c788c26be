/** Turns variables and flags into validated values and collects every problem. */
import { type EnvFile, parseEnvFile } from "./env-file.ts";
import { type FlagName, type Setting, takesFile } from "./setting.ts";
import { type SettingName, type SettingValues, settings } from "./settings.ts";
import { describeFileError, nameForOperator, readText, withoutLineEnd } from "./text-file.ts";
import { BadValue } from "./values.ts";
import { judgeOfEnvFile, judgeOfEnvironment, type NameVerdict } from "./variable-names.ts";

export type Variables = Readonly<Record<string, string | undefined>>;
export type Flags = Partial<Record<FlagName, string | undefined>>;

export interface Problem {
  /** A full sentence that starts with the name of the setting. */
  sentence: string;
}

/** What was found meanwhile; `warnings` are of what has no effect. */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: string[];
}

const fileSuffix = "_FILE";

export interface GivenVariables {
  /** Without empty ones, which count as unset. */
  readonly variables: ReadonlyMap<string, string>;
  /** The lines of the env file by what is named there, empty or not. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Variables from the file, overridden by the environment. */
export function mergeVariables(
  environment: Variables,
  envFilePath: string | undefined,
  problems: Problem[],
): GivenVariables {
  const file = readEnvFile(envFilePath, problems);
  const given = [...(file?.values ?? []), ...Object.entries(environment)];
  const variables = new Map<string, string>();
  for (const [name, value] of given) if (value !== undefined && value !== "") variables.set(name, value);
  return { variables, lines: file?.lines ?? new Map() };
}

function readEnvFile(path: string | undefined, problems: Problem[]): EnvFile | null {
  if (path === undefined) return null;
  const text = readText(path);
  if (text instanceof Error) {
    problems.push({ sentence: `--env-file: ${describeFileError(text)}` });
    return null;
  }
  const file = parseEnvFile(text);
  for (const problem of file.problems) problems.push({ sentence: `${nameForOperator(path)} ${problem}` });
  return file;
}

export function judgeNames(
  environment: Variables,
  envFile: { path: string | undefined; lines: ReadonlyMap<string, number> },
  findings: Findings,
): void {
  const path = nameForOperator(envFile.path ?? "");
  for (const [name, line] of envFile.lines) take(judgeOfEnvFile(name), `${path} line ${line}: `, findings);
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") take(judgeOfEnvironment(name), "", findings);
  }
}

function take(verdict: NameVerdict | null, prefix: string, { problems, warnings }: Findings): void {
  if (verdict === null) return;
  const sentence = prefix + verdict.sentence;
  if (verdict.isProblem) problems.push({ sentence });
  else warnings.push(sentence);
}

/** Those of these names; all unless some are chosen. */
export function readSettings<Name extends SettingName = SettingName>(
  variables: ReadonlyMap<string, string>,
  flags: Flags,
  problems: Problem[],
  names = Object.keys(settings) as Name[],
): Pick<SettingValues, Name> {
  const values = names.map((name) => [name, readSetting(settings[name], variables, flags, problems)]);
  return Object.fromEntries(values);
}

function readSetting(
  one: Setting<unknown>,
  variables: ReadonlyMap<string, string>,
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
  variables: ReadonlyMap<string, string>,
  problems: Problem[],
): { source: string; text: string } | null {
  const text = variables.get(one.variable);
  const fileVariable = one.variable + fileSuffix;
  const filePath = takesFile(one) ? variables.get(fileVariable) : undefined;
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
  return { source: `The content of ${fileVariable} (${nameForOperator(filePath)})`, text: withoutLineEnd(content) };
}
