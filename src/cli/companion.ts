/** `companiond companion`: manages companions and their embed tokens. */

import { readNewCompanion } from "../api/companions/read-settings.ts";
import { toWireCompanion, toWireEmbedToken } from "../api/companions/responses.ts";
import type { Store } from "../contracts/store/store.ts";
import type { Companion, EmbedToken } from "../domain/companion.ts";
import { makeEmbedToken } from "../domain/credentials.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { formatList } from "./columns.ts";
import { type Action, type ActionInput, type Command, CommandFailure } from "./command.ts";
import { importAction } from "./companion-import.ts";
import { readCompanionBody, settingOptions } from "./companion-options.ts";
import { openAccount } from "./find-account.ts";
import { free } from "./value.ts";

const create: Action = {
  name: "create",
  about: "Create a companion with its first embed token.",
  data: "writes",
  options: {
    account: { value: free("email"), about: "The account that owns it.", isRequired: true },
    ...settingOptions,
  },
  async run(input) {
    const { args, ids, loadConfig, audit } = input;
    const { llm, messagesPerDay } = loadConfig();
    const body = readCompanionBody(args);
    const { store, account } = await openAccount(input, args.text("account"));
    const rules = { ...llm, dailyMessages: messagesPerDay[account.plan], voice: store.voice, accountId: account.id };
    const settings = await readNewCompanion(body, rules);
    const embedToken = { id: ids.uuid(), token: makeEmbedToken(ids.secret) };
    const made = { ...settings, id: ids.uuid(), createdByKeyId: null, embedToken };
    const companion = await store.companions.create(account.id, made, audit());
    return {
      json: toWireCompanion(companion),
      text: `Created the companion ${JSON.stringify(companion.name)}.\nid           ${companion.id}\nembed token  ${companion.embedToken}`,
    };
  },
};

const list: Action = {
  name: "list",
  about: "Show an account's companions, newest first.",
  data: "reads",
  options: { account: { value: free("email"), about: "The account.", isRequired: true } },
  async run(input) {
    const { store, account } = await openAccount(input, input.args.text("account"));
    const companions = await listAll(store, account.id);
    const rows = companions.map((one) => [
      one.name,
      one.enabled ? "enabled" : "disabled",
      one.embedToken ?? "none",
      toRfc3339(one.createdAt),
      one.id,
    ]);
    return {
      json: companions.map(toWireCompanion),
      text: formatList(["name", "state", "embed token", "created", "id"], rows, `${account.email} has no companions.`),
    };
  },
};

const token: Action = {
  name: "token",
  about: "Print a companion's embed token; creates one if all were revoked.",
  data: "reads",
  operands: [{ value: free("id") }],
  async run(input) {
    const found = await findToken(await input.openStore(), input.args.operand(0).toLowerCase(), input);
    return { json: toWireEmbedToken(found), text: found.token };
  },
};

export const companionCommand: Command = {
  name: "companion",
  about: "Create or import companions and show their embed tokens.",
  actions: [create, list, token, importAction],
};

async function listAll(store: Store, accountId: string): Promise<Companion[]> {
  const all: Companion[] = [];
  const everything = { metadata: [], q: null };
  let afterId: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof store.companions.list>> = await store.companions.list(accountId, everything, {
      limit: 100,
      afterId,
    });
    all.push(...page.items);
    afterId = page.nextAfterId;
  } while (afterId !== null);
  return all;
}

async function findToken(store: Store, companionId: string, { ids, audit }: ActionInput): Promise<EmbedToken> {
  for (const account of await store.accounts.list()) {
    const tokens = await store.embedTokens.list(account.id, companionId);
    if (tokens === null) continue;
    const fresh = { id: ids.uuid(), token: makeEmbedToken(ids.secret), name: null };
    const found = tokens[0] ?? (await store.embedTokens.create(account.id, companionId, fresh, audit()));
    if (found !== null) return found;
  }
  throw new CommandFailure(
    `companion not found: ${companionId}. "companiond companion list --account <email>" shows the ids.`,
  );
}
