/** `companiond spending`: stops what providers are asked, for one account or for all, and lets it begin again. */
import { toWireStop } from "../api/spending-stops/responses.ts";
import type { Store } from "../contracts/store/store.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { formatList } from "./columns.ts";
import { type Action, type ActionInput, type Command, free } from "./command.ts";
import { openAccount } from "./find-account.ts";

const options = { account: { value: free("email"), about: "Only this account. Without it, all accounts." } };

interface Whom {
  store: Store;
  accountId: string | null;
  /** In a sentence. */
  name: string;
}

async function findWhom(input: ActionInput): Promise<Whom> {
  const email = input.args.find("account");
  if (email === undefined) return { store: await input.openStore(), accountId: null, name: "all accounts" };
  const { store, account } = await openAccount(input, email);
  return { store, accountId: account.id, name: account.email };
}

const stop: Action = {
  name: "stop",
  about: "From now on no call to a language model or voice provider begins; replies under way go on.",
  data: "writes",
  options,
  async run(input) {
    const { store, accountId, name } = await findWhom(input);
    await store.spending.stop(accountId, input.audit());
    return {
      json: { account_id: accountId, stopped: true },
      text: `Stopped for ${name}. Visitors are asked to try again later, until "companiond spending start".`,
    };
  },
};

const start: Action = {
  name: "start",
  about: "Let calls begin again. A stop of all accounts and those of single accounts end one by one.",
  data: "writes",
  options,
  async run(input) {
    const { store, accountId, name } = await findWhom(input);
    const wasStopped = await store.spending.start(accountId, input.audit());
    const left = accountId === null ? null : await store.spending.findStop(accountId);
    const ended = wasStopped ? `Started again for ${name}.` : `Nothing was stopped for ${name}.`;
    return {
      json: { account_id: accountId, stopped: left !== null },
      text: left === null ? ended : `${ended} The stop of all accounts is still in force.`,
    };
  },
};

const status: Action = {
  name: "status",
  about: "Show whose calls are stopped, and since when.",
  data: "reads",
  options,
  async run(input) {
    const { store, accountId, name } = await findWhom(input);
    const stops = await store.spending.listStops();
    const own =
      accountId === null ? stops : stops.filter((one) => one.accountId === null || one.accountId === accountId);
    const accounts = new Map((await store.accounts.list()).map(({ id, email }) => [id, email]));
    const rows = own.map((one) => [
      one.accountId === null ? "all accounts" : (accounts.get(one.accountId) ?? one.accountId),
      toRfc3339(one.stoppedAt),
    ]);
    return {
      json: { data: own.map(toWireStop) },
      text: formatList(["stopped", "since"], rows, `Nothing is stopped for ${name}.`),
    };
  },
};

export const spendingCommand: Command = {
  name: "spending",
  about: "Stop and start what providers are asked, and paid for.",
  actions: [stop, start, status],
};
