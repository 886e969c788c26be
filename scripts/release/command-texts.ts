/** What is written from the table of commands: the manual page and the completions. */
import { makeCommands } from "../../src/cli/commands.ts";
import { writeBashCompletion } from "../../src/cli/completion/bash.ts";
import { describeCompletions } from "../../src/cli/completion/completed-actions.ts";
import { writeFishCompletion } from "../../src/cli/completion/fish.ts";
import { writeZshCompletion } from "../../src/cli/completion/zsh.ts";
import type { ReleaseTexts } from "./deb-files.ts";
import { renderManPage } from "./man-page.ts";

export async function makeCommandTexts(
  version: string,
  builtAt: Date,
  { hasReleases }: { hasReleases: boolean },
): Promise<Pick<ReleaseTexts, "manPage" | "completions">> {
  const listed = await Promise.all(
    makeCommands({ hasReleases })
      .filter((command) => !command.isHidden)
      .map((command) => command.load()),
  );
  const completed = describeCompletions(listed);
  return {
    manPage: renderManPage(listed, version, builtAt),
    completions: {
      bash: writeBashCompletion(completed),
      zsh: writeZshCompletion(completed),
      fish: writeFishCompletion(completed),
    },
  };
}
