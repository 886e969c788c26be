/** Finds the account for a typed e-mail address or companion id. */
import type { Store } from "../contracts/store/store.ts";
import type { Account } from "../domain/account.ts";
import { normalizeEmail } from "../domain/email.ts";
import { identityOf } from "../domain/member.ts";
import { type ActionInput, CommandFailure, free, Misuse, type OptionSpec } from "./command.ts";

export function readEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email === null) throw new Misuse(`${JSON.stringify(text)} is not an e-mail address.`);
  return email;
}

export function gone(email: string): CommandFailure {
  return new CommandFailure(`${email} has been deleted in the meantime.`);
}

/** Opens the store for it. */
export async function openAccount(
  { openStore }: Pick<ActionInput, "openStore">,
  text: string,
): Promise<{ store: Store; account: Account }> {
  const store = await openStore();
  const account = await store.accounts.findByEmail(readEmail(text));
  if (account === null) throw notFound(text);
  return { store, account };
}

/** For what is each person's own: the address may also be a member's who has joined. */
export async function openAccess({ openStore }: Pick<ActionInput, "openStore">, text: string) {
  const store = await openStore();
  const access = await store.sessions.findAccess(readEmail(text));
  if (access === null) throw notFound(text);
  return { store, ...access, person: identityOf(access) };
}

function notFound(text: string): CommandFailure {
  return new CommandFailure(`account not found: ${text}. "companiond account list" shows all accounts.`);
}

export function readChoice<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new Misuse(`${what} must be one of ${choices.join(", ")}.`);
  return found;
}

export const companionOption: OptionSpec = { value: free("id"), about: "The companion.", isRequired: true };

export interface Owner {
  accountId: string;
  companionId: string;
}

/** Finds the account of a typed companion id. */
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
