/** Every action of every command, with words that it can be run with. */
import { join } from "node:path";
import type { Action, Command } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import type { TemporaryDirectory } from "./temporary.ts";

export interface OneAction {
  command: Command;
  action: Action;
}

const loaded: Command[] = await Promise.all(commands.map((command) => command.load()));
export const everyAction: readonly OneAction[] = loaded.flatMap((command) =>
  command.actions.map((action) => ({ command, action })),
);

export const nameOf = ({ command, action }: OneAction) => `${command.name} ${action.name}`.trim();

/** Those that need data that is there. Backups are examined wherever they are: there may be no database yet. */
export const onData = everyAction.filter(
  ({ command, action: { data } }) => (data === "reads" || data === "writes") && command.name !== "backups",
);

/** What to type; `own` holds `notes.txt` and `companions.jsonl`. */
export function wordsOf({ command, action }: OneAction, own: TemporaryDirectory): string[] {
  const options = Object.entries(action.options ?? {}).flatMap(([name, spec]) => {
    if (name === "yes") return ["--yes"];
    return spec.isRequired ? [`--${name}`, valueFor(spec.value?.shown ?? "", own)] : [];
  });
  const operands = (action.operands ?? [])
    .filter(({ isOptional }) => !isOptional)
    .map(({ value }) => valueFor(value.shown, own));
  return [command.name, action.name, ...options, ...operands].filter((word) => word !== "");
}

/** For what the help shows. */
function valueFor(shown: string, own: TemporaryDirectory): string {
  const id = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";
  const values: Record<string, string> = {
    ...{ "<email>": "ada@example.com", "<id>": id, "<source>": id, "<agent>": "agent_1", "<name>": "Ada" },
    ...{ "<scopes>": "companions:read", "free|paid": "free", "<file>|<url>": own.file("notes.txt") },
    ...{ "<file>": own.file("companions.jsonl"), "<file>|s3:": own.file("backup.db"), "<directory>": own.file("out") },
    "<path>": join(import.meta.dir, "../../examples/as-code/companions"),
  };
  const value = values[shown];
  if (value === undefined) throw new Error(`what is typed for ${shown}?`);
  return value;
}
