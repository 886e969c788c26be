/** Actions of `companiond account` that give up what the server's lost key has sealed. */
import type { Store, WriteContext } from "../contracts/store/store.ts";
import { toWireAccount } from "../http/schemas/account.ts";
import { type Action, free, Misuse } from "./command.ts";
import { gone, openAccount, readEmail } from "./find-account.ts";

interface Sealed {
  readonly name: string;
  readonly about: string;
  /** As in "This deletes … of eve@shop.example". */
  deletes(email: string): string;
  reset(store: Store, accountId: string, context: WriteContext): Promise<boolean>;
  done(email: string): string;
}

/** Gives up what the server's lost key has sealed. */
function giveUp({ name, about, deletes, reset, done }: Sealed): Action {
  return {
    name,
    about,
    data: "writes",
    operands: [{ value: free("email") }],
    options: { yes: { about: "Confirm it: nothing of this can be brought back." } },
    async run(input) {
      const email = readEmail(input.args.operand(0));
      if (!input.args.has("yes")) throw new Misuse(`This deletes ${deletes(email)}. Add --yes to do it.`);
      const { store, account } = await openAccount(input, email);
      if (!(await reset(store, account.id, input.audit()))) throw gone(email);
      return { json: toWireAccount(account), text: done(email) };
    },
  };
}

export const resetVisitorKeys = giveUp({
  name: "reset-visitor-keys",
  about: "Delete an account's visitor keys, and what is known of its verified visitors, if the server's key is lost.",
  deletes: (email) => `the visitor keys of ${email}, and what is known of its verified visitors`,
  reset: (store, ...account) => store.visitorKeys.reset(...account),
  done: (email) => `${email} has no visitor keys any more, and can create new ones.`,
});

export const resetTools = giveUp({
  name: "reset-tools",
  about: "Delete the tools of all of an account's companions, if the server's key is lost.",
  deletes: (email) => `the tools of all companions of ${email}`,
  reset: (store, ...account) => store.tools.reset(...account),
  done: (email) => `The companions of ${email} have no tools any more, and can get new ones.`,
});

export const resetWebhooks = giveUp({
  name: "reset-webhooks",
  about: "Delete an account's webhooks, with what waits for them, if the server's key is lost.",
  deletes: (email) => `the webhooks of ${email}`,
  reset: (store, ...account) => store.webhooks.reset(...account),
  done: (email) => `${email} has no webhooks any more, and can create new ones.`,
});
