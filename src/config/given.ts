/** Which settings are set, and where: names alone, since values may be secret. */
import type { Variables } from "./read-settings.ts";
import { allSettings } from "./settings.ts";

export interface GivenSetting {
  /** The variable, or the flag as it is typed. */
  readonly name: string;
  readonly source: "command line" | "environment" | "env file";
}

/** Variables that a flag overrules are left out. */
export function listGiven(
  variables: ReadonlyMap<string, string>,
  environment: Variables,
  flags: Readonly<Record<string, string | boolean | undefined>>,
): GivenSetting[] {
  const given: GivenSetting[] = [];
  const overruled = new Set<string>();
  for (const [flag, value] of Object.entries(flags)) {
    if (value === undefined || value === false) continue;
    given.push({ name: `--${flag}`, source: "command line" });
    for (const one of allSettings) if (one.flag === flag) overruled.add(one.variable);
  }
  for (const { variable } of allSettings) {
    if (overruled.has(variable)) continue;
    for (const name of [variable, `${variable}_FILE`]) {
      if (variables.has(name)) given.push({ name, source: environment[name] ? "environment" : "env file" });
    }
  }
  return given;
}
