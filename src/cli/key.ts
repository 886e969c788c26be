/** `companiond key`: API keys for platforms. */
import { type ApiKey, scopes as knownScopes, type Scope } from "../domain/account.ts";
import { apiKeyEnds, makeApiKey } from "../domain/credentials.ts";
import { isName, nameProblem } from "../domain/name.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { sha256 } from "../lib/sha256.ts";
import { toWireKey } from "../modules/keys/model.ts";
import { formatList } from "./columns.ts";
import { type Action, type Command, CommandFailure, Misuse } from "./command.ts";
import { openAccount } from "./find-account.ts";
import { free, listOf } from "./value.ts";

const create: Action = {
  name: "create",
  about: "Create an API key; it is shown only once.",
  data: "writes",
  options: {
    account: { value: free("email"), about: "The account that it acts for.", isRequired: true },
    name: { value: free("name"), about: "What it is for, 1 to 100 characters.", isRequired: true },
    scopes: {
      value: listOf("scopes", knownScopes),
      about: `What it may do, separated by commas. There are ${knownScopes.join(", ")}.`,
      isRequired: true,
    },
    expires: {
      value: free("time"),
      about: "When it ends: in 30m, 12h, 90d, 4w, or at an RFC 3339 time. Without it, never.",
    },
  },
  async run(input) {
    const { args, ids, clock, audit } = input;
    const name = args.text("name");
    if (!isName(name)) throw new Misuse(`--name: ${nameProblem}`);
    const scopes = readScopes(args.text("scopes"));
    const expiresAt = readExpiry(args.find("expires"), clock.nowMs());
    const { store, account } = await openAccount(input, args.text("account"));
    const secret = makeApiKey(ids.secret);
    const key = await store.apiKeys.create(
      account.id,
      { id: ids.uuid(), name, ...apiKeyEnds(secret), hash: sha256(secret), scopes, expiresAt, createdByKeyId: null },
      audit(),
    );
    return {
      json: { ...toWireKey(key), key: secret },
      text: `${secret}\nThe key "${name}" is shown only this once: store it now, on servers only.`,
    };
  },
};

const list: Action = {
  name: "list",
  about: "Show an account's keys that are not revoked, newest first.",
  data: "reads",
  options: { account: { value: free("email"), about: "The account.", isRequired: true } },
  async run(input) {
    const { store, account } = await openAccount(input, input.args.text("account"));
    const keys = await store.apiKeys.list(account.id);
    return {
      json: keys.map(toWireKey),
      text: formatList(
        ["name", "key", "scopes", "created", "expires", "last used", "requests", "id"],
        keys.map(describeKey),
        `${account.email} has no keys.`,
      ),
    };
  },
};

const revoke: Action = {
  name: "revoke",
  about: "Revoke a key and all keys created with it; a running server refuses them at once.",
  data: "writes",
  operands: [{ value: free("id") }],
  async run({ args, ids, openStore, audit }) {
    const id = args.operand(0).toLowerCase();
    const store = await openStore();
    for (const account of await store.accounts.list()) {
      const [key, ...others] = await store.apiKeys.revoke(account.id, id, audit(), ids.uuid);
      if (key === undefined) continue;
      const verdict = `Revoked the key "${key.name}" (${shownKey(key)}) of ${account.email}: it is refused from now on.`;
      const further = others.map((other) => `  ${shownKey(other)}  ${other.name}  ${other.id}`);
      const summary = `${others.length === 1 ? "A key" : `${others.length} keys`} created with it ended too:`;
      return {
        json: { id, revoked: true, also_revoked: others.map((other) => other.id) },
        text: [verdict, ...(others.length === 0 ? [] : [summary, ...further])].join("\n"),
      };
    }
    throw new CommandFailure(`no active key with the id ${id}. "companiond key list --account <email>" shows the ids.`);
  },
};

export const keyCommand: Command = {
  name: "key",
  about: "Create and revoke API keys.",
  actions: [create, list, revoke],
};

function readScopes(text: string): Scope[] {
  const wanted = text.split(",").map((part) => part.trim());
  const unknown = wanted.filter((part) => !knownScopes.some((scope) => scope === part));
  if (unknown.length > 0) {
    throw new Misuse(`unknown scope ${JSON.stringify(unknown.join(", "))}. There are ${knownScopes.join(", ")}.`);
  }
  return knownScopes.filter((scope) => wanted.includes(scope));
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of `30m`, `12h`, `90d`, `2w`; null if the text is not a duration. */
function parseDurationMs(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : unitMs[unit];
  return amount === undefined || factor === undefined || Number(amount) === 0 ? null : Number(amount) * factor;
}

function readExpiry(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const durationMs = parseDurationMs(text);
  const instantMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  const expiresAt = durationMs === null ? instantMs : nowMs + durationMs;
  if (expiresAt > nowMs) return expiresAt;
  throw new Misuse("--expires must be a duration like 90d or a future RFC 3339 time.");
}

/** As much of a key as distinguishes it from others. */
function shownKey({ start, lastFour }: Pick<ApiKey, "start" | "lastFour">): string {
  return `${start}…${lastFour ?? ""}`;
}

function describeKey(key: ApiKey): string[] {
  return [
    key.replacedAt === null ? key.name : `${key.name} (replaced ${toRfc3339(key.replacedAt)})`,
    shownKey(key),
    key.scopes.join(","),
    toRfc3339(key.createdAt),
    key.expiresAt === null ? "never" : toRfc3339(key.expiresAt),
    key.lastUsedAt === null ? "never" : toRfc3339(key.lastUsedAt),
    String(key.requests),
    key.id,
  ];
}
