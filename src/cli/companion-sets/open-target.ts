/** Which of both targets the options of a command name. */
import { apiServerOptions, openApiServer } from "../api-server.ts";
import { type ActionInput, free, Misuse, type OptionSpec } from "../command.ts";
import { openHttpTarget } from "./http-target.ts";
import { openLocalTarget } from "./local-target.ts";
import type { SetTarget } from "./target.ts";

export const targetOptions: Readonly<Record<string, OptionSpec>> = {
  account: {
    value: free("email"),
    about: "The account, in the data directory of this machine.",
    isRequired: true,
    requiredUnless: "url",
  },
  ...apiServerOptions,
};

/**
 * Checks the options, and opens the key's file and the configuration, since from there on it is known as whom files are
 * opened. The returned function opens the target. Throws `Misuse`.
 */
export function prepareTarget(input: ActionInput): (note: string | null) => Promise<SetTarget> {
  const { args } = input;
  if (args.has("account") && args.has("url")) throw new Misuse("give either --account or --url.");
  const server = openApiServer(input);
  if (server !== null) return async (note) => openHttpTarget(server, note);
  input.loadConfig();
  return (note) => openLocalTarget(input, args.text("account"), note);
}
