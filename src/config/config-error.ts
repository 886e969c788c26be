/** Everything that is wrong with a configuration. */
import type { Problem } from "./read-settings.ts";

/** Every problem with the configuration, one sentence per line. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];
  /** As far as it could be read; an absolute path. */
  readonly dataDir: string;

  constructor(problems: readonly Problem[], dataDir: string) {
    super(problems.map((problem) => problem.sentence).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
    this.dataDir = dataDir;
  }
}
