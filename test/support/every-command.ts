/** Every action of every command, with words that it can be run with. */
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

/** Those that need data that is there. Backups are looked at wherever they are: there may be no database yet. */
export const onData = everyAction.filter(
  ({ command, action: { data } }) => (data === "reads" || data === "writes") && command.name !== "backups",
);

/** What to type; `own` holds `notes.txt` and `companions.jsonl`. */
export function wordsOf({ command, action }: OneAction, own: TemporaryDirectory): string[] {
  const options = Object.entries(action.options ?? {}).flatMap(([name, spec]) => {
    if (name === "yes") return ["--yes"];
    return spec.isRequired ? [`--${name}`, valueFor(spec.value ?? "", own)] : [];
  });
  const operands = (action.operands ?? []).map((one) => valueFor(one, own));
  return [command.name, action.name, ...options, ...operands].filter((word) => word !== "");
}

/** For a placeholder of a declaration. */
function valueFor(placeholder: string, own: TemporaryDirectory): string {
  const id = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";
  const values: Record<string, string> = {
    ...{ E: "ada@example.com", ID: id, SOURCE: id, AGENT: "agent_1", N: "Ada", "a,b": "companions:read" },
    ...{ "free|paid": "free", "FILE|URL…": own.file("notes.txt") },
    ...{ FILE: own.file("companions.jsonl"), "FILE|s3:": own.file("backup.db") },
  };
  const value = values[placeholder];
  if (value === undefined) throw new Error(`what is typed for ${placeholder}?`);
  return value;
}
