/** Finds the account for a typed e-mail address. */
import type { Store } from "../contracts/store/store.ts";
import type { Account } from "../domain/account.ts";
import { normalizeEmail } from "../domain/email.ts";
import { type ActionInput, CommandFailure, Misuse } from "./command.ts";

export function readEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email === null) throw new Misuse(`${JSON.stringify(text)} is not an e-mail address.`);
  return email;
}

/** Opens the store for it. */
export async function openAccount(
  { openStore }: Pick<ActionInput, "openStore">,
  text: string,
): Promise<{ store: Store; account: Account }> {
  const store = await openStore();
  const account = await store.accounts.findByEmail(readEmail(text));
  if (account === null) {
    throw new CommandFailure(`account not found: ${text}. "companiond account list" shows all accounts.`);
  }
  return { store, account };
}

export function readChoice<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new Misuse(`${what} must be one of ${choices.join(", ")}.`);
  return found;
}
