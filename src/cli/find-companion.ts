/** Finds the account of a typed companion id. */
import type { Store } from "../contracts/store/store.ts";
import { CommandFailure, type OptionSpec } from "./command.ts";
import { free } from "./value.ts";

export const companionOption: OptionSpec = { value: free("id"), about: "The companion.", isRequired: true };

export interface Owner {
  accountId: string;
  companionId: string;
}

export async function findOwner(store: Store, text: string): Promise<Owner> {
  const companionId = text.toLowerCase();
  for (const account of await store.accounts.list()) {
    const companion = await store.companions.find(account.id, companionId);
    if (companion !== null) return { accountId: account.id, companionId };
  }
  throw new CommandFailure(
    `companion not found: ${companionId}. "companiond companion list --account <email>" shows the ids.`,
  );
}
