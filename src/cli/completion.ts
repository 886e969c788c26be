/** `companiond completion`: prints what a shell needs to complete commands, options and files. */
import type { Action, Command } from "./command.ts";
import { writeBashCompletion } from "./completion/bash.ts";
import { type Completed, describeCompletions } from "./completion/completed-actions.ts";
import { writeFishCompletion } from "./completion/fish.ts";
import { writeZshCompletion } from "./completion/zsh.ts";

const shells: Readonly<Record<string, { write: (completed: Completed) => string; load: string }>> = {
  bash: { write: writeBashCompletion, load: "source <(companiond completion bash)" },
  zsh: { write: writeZshCompletion, load: "source <(companiond completion zsh)" },
  fish: { write: writeFishCompletion, load: "companiond completion fish | source" },
};

export const completionCommand: Command = {
  name: "completion",
  about: "Print completions for a shell.",
  actions: Object.entries(shells).map(
    ([name, { write, load }]): Action => ({
      name,
      about: `Print completions for ${name}. In its start file: ${load}`,
      data: "none",
      async run({ listCommands }) {
        const text = write(describeCompletions(await listCommands())).trimEnd();
        return { json: { shell: name, script: `${text}\n` }, text };
      },
    }),
  ),
};
