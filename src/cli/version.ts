/** `companiond version`: identifies this build. */
import { buildInfo } from "../lib/build-info.ts";
import { singleCommand } from "./command.ts";

export const versionCommand = singleCommand({
  name: "version",
  about: "Show version, commit and build.",
  data: "none",
  async run() {
    const { version, commit, builtAt, target, apiStamp } = buildInfo;
    const api = apiStamp === null ? null : `${version}+${apiStamp}`;
    const build = { bun: Bun.version, target, built_at: builtAt };
    const source = commit === null ? "from source" : `commit ${commit}`;
    const facts = [source, api === null ? null : `API ${api}`, builtAt, `Bun ${Bun.version}`, build.target];
    return {
      json: { version, commit, api, build },
      text: `companiond ${version} (${facts.filter((fact) => fact !== null).join(", ")})`,
    };
  },
});
