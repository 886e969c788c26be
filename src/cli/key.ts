/** `companiond key`: API keys for platforms. */
import { toWireKey } from "../api/keys/responses.ts";
import type { Store } from "../contracts/store/store.ts";
import {
  type Account,
  type ApiKey,
  scopes as knownScopes,
  maxGraceSeconds,
  renewedExpiry,
  type Scope,
} from "../domain/account.ts";
import { apiKeyEnds, makeApiKey } from "../domain/credentials.ts";
import { isName, nameProblem } from "../domain/name.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { sha256 } from "../lib/sha256.ts";
import { formatList } from "./columns.ts";
import { type Action, type Command, CommandFailure, free, listOf, Misuse } from "./command.ts";
import { openAccount } from "./find-account.ts";

const unlessReplaced = { isRequired: true, requiredUnless: "replaces" } as const;

const create: Action = {
  name: "create",
  about: "Create an API key; it is shown only once.",
  data: "writes",
  options: {
    account: { value: free("email"), about: "The account that it acts for.", ...unlessReplaced },
    name: { value: free("name"), about: "What it is for, 1 to 100 characters.", ...unlessReplaced },
    scopes: {
      value: listOf("scopes", knownScopes),
      about: `What it may do, separated by commas. There are ${knownScopes.join(", ")}.`,
      ...unlessReplaced,
    },
    expires: {
      value: free("time"),
      about: "When it ends: in 30m, 12h, 90d, 4w, or at an RFC 3339 time. Without it, never.",
    },
    replaces: {
      value: free("id"),
      about: "A key that it replaces, with that key's account, name, scopes and time where no others are given.",
    },
    grace: {
      value: free("time"),
      about:
        "With --replaces, and then required: how long the old key still works: 1h, 7d, 30d at most; 0 ends it now.",
    },
  },
  async run(input) {
    const { args, ids, openStore } = input;
    const context = input.audit();
    const { nowMs } = context;
    const sentName = args.find("name");
    if (sentName !== undefined && !isName(sentName)) throw new Misuse(`--name: ${nameProblem}`);
    const sentScopes = args.find("scopes");
    const given = { scopes: sentScopes === undefined ? undefined : readScopes(sentScopes), name: sentName };
    const expires = args.find("expires");
    const givenExpiry = expires === undefined ? undefined : readExpiry(expires, nowMs);
    const graceMs = readGraceMs(args.find("grace"), args.has("replaces"));
    const email = args.find("account");
    const { store, account } =
      email === undefined ? { store: await openStore(), account: null } : await openAccount(input, email);
    const replaces = args.find("replaces");
    const old = replaces === undefined ? null : await getKey(store, account, replaces);
    const { name = old?.name ?? "", scopes = old?.scopes ?? [] } = given;
    const renewed = old === null ? null : renewedExpiry(old, nowMs);
    const expiresAt = givenExpiry ?? renewed;
    const secret = makeApiKey(ids.secret);
    const made = {
      id: ids.uuid(),
      name,
      ...apiKeyEnds(secret),
      hash: sha256(secret),
      scopes,
      expiresAt,
      createdByKeyId: null,
    };
    const accountId = old?.accountId ?? account?.id ?? "";
    const key =
      old === null
        ? await store.apiKeys.create(accountId, made, context)
        : await store.apiKeys.replace(accountId, { keyId: old.id, endsAt: nowMs + graceMs }, made, context, ids.uuid);
    const [now] = old === null ? [] : (await store.apiKeys.list(accountId)).filter(({ id }) => id === old.id);
    const endOfOld = old === null ? [] : [describeEnd(old, now?.expiresAt ?? null)];
    return {
      json: { ...toWireKey(key), key: secret },
      text: [secret, `The key "${name}" is shown only this once: store it now, on servers only.`, ...endOfOld].join(
        "\n",
      ),
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
  about: "Revoke a key and all keys created with it; a running server refuses them immediately.",
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
    throw noSuchKey(id);
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

function readExpiry(text: string, nowMs: number): number {
  const durationMs = parseDurationMs(text);
  const instantMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  const expiresAt = durationMs === null ? instantMs : nowMs + durationMs;
  if (expiresAt > nowMs) return expiresAt;
  throw new Misuse("--expires must be a duration like 90d or a future RFC 3339 time.");
}

function readGraceMs(text: string | undefined, isRotation: boolean): number {
  if ((text !== undefined) !== isRotation) {
    throw new Misuse(
      isRotation ? "--replaces needs --grace: how long the old key still works." : "--grace needs --replaces.",
    );
  }
  const graceMs = text === undefined || text === "0" ? 0 : parseDurationMs(text);
  if (graceMs !== null && graceMs <= maxGraceSeconds * 1000) return graceMs;
  throw new Misuse("--grace must be a duration like 1h, 30d at most, or 0.");
}

/** Of the account, or of any where none was given. */
async function getKey(store: Store, account: Account | null, id: string): Promise<ApiKey> {
  for (const { id: accountId } of account === null ? await store.accounts.list() : [account]) {
    const found = (await store.apiKeys.list(accountId)).find((key) => key.id === id.toLowerCase());
    if (found !== undefined) return found;
  }
  throw noSuchKey(id.toLowerCase());
}

function noSuchKey(id: string): CommandFailure {
  return new CommandFailure(`no active key with the id ${id}. "companiond key list --account <email>" shows the ids.`);
}

/** Of a replaced key; null if it was revoked. */
function describeEnd(key: ApiKey, expiresAt: number | null): string {
  const end = expiresAt === null ? "is refused from now on" : `works until ${toRfc3339(expiresAt)}`;
  return `The key that it replaces (${shownKey(key)}) ${end}.`;
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
