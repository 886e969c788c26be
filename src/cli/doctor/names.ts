/** Tells which variables are set and have no effect; of settings that are wrong there is nothing to examine. */
import type { Config } from "../../config/config.ts";
import type { Finding } from "../../domain/finding.ts";
import { ok, warn } from "./finding.ts";

export function examineNames({ warnings }: Pick<Config, "warnings">): Finding[] {
  const name = "configuration";
  if (warnings.length === 0) return [ok(name, "All settings are valid.")];
  return warnings.map((sentence) => warn(name, sentence, "Remove it, unless another program needs it here."));
}
