/** `companiond version`: what this build is. */
import { builtAt, commit, version } from "../version.ts";
import type { Command } from "./command.ts";

export const versionCommand: Command = {
  name: "version",
  about: "Tell version, commit and build.",
  actions: [
    {
      name: "",
      about: "Tell version, commit and build.",
      async run() {
        const build = { bun: Bun.version, target: `${process.platform}-${process.arch}`, built_at: builtAt };
        const details = [
          commit === null ? "from source" : `commit ${commit}`,
          builtAt,
          `Bun ${Bun.version}`,
          build.target,
        ];
        return {
          json: { version, commit, build },
          text: `companiond ${version} (${details.filter((part) => part !== null).join(", ")})`,
        };
      },
    },
  ],
};
