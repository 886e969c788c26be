/** `companiond companion`: manages companions and their embed tokens. */
import { companionFields } from "../api/companions/fields.ts";
import { readNewCompanion } from "../api/companions/read-settings.ts";
import { toWireCompanion, toWireEmbedToken } from "../api/companions/responses.ts";
import type { Store } from "../contracts/store/store.ts";
import type { Companion, EmbedToken, JsonObject, JsonValue } from "../domain/companion.ts";
import { makeEmbedToken } from "../domain/credentials.ts";
import { parseJsonObject } from "../domain/json.ts";
import { reasoningEfforts } from "../domain/reasoning.ts";
import { visitorAuths } from "../domain/visitor.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { formatList } from "./columns.ts";
import {
  type Action,
  type ActionInput,
  type Arguments,
  type Command,
  CommandFailure,
  free,
  Misuse,
  type OptionSpec,
  oneOf,
  type Value,
} from "./command.ts";
import { importAction } from "./companion-import.ts";
import { openAccount } from "./find-account.ts";

interface SettingOption extends OptionSpec {
  /** Converts the option's values to the field. */
  read: (texts: readonly string[], option: string) => JsonValue;
}

const asText: SettingOption["read"] = ([text = ""]) => text;

const asNumber: SettingOption["read"] = ([text = ""], option) => {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new Misuse(`--${option} must be a number.`);
};

const asJsonObject: SettingOption["read"] = ([text = ""], option) => {
  const value = parseJsonObject(text);
  if (value === null) throw new Misuse(`--${option} must be a JSON object.`);
  return value;
};

const asList: SettingOption["read"] = (texts) => [...texts];

/** By the type in the field's schema. */
const kinds: Record<string, Omit<SettingOption, "about"> & { value?: Value }> = {
  string: { value: free("text"), read: asText },
  number: { value: free("number"), read: asNumber },
  integer: { value: free("number"), read: asNumber },
  object: { value: free("json"), read: asJsonObject },
  array: { value: free("text"), isRepeatable: true, read: asList },
  // Given or not: both are off unless they are.
  boolean: { read: () => true },
};

/** Where the word of the kind would not show what to write. */
const values: Record<string, Value> = {
  avatar_url: free("url"),
  theme_color: free("#rrggbb"),
  voice_id: free("id"),
  voice_agent_id: free("id"),
  model: free("model"),
  allowed_origins: free("origin"),
  visitor_auth: oneOf(visitorAuths),
  reasoning_effort: oneOf(reasoningEfforts),
};

interface FieldSchema {
  description?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
}

interface DeclaredOption extends SettingOption {
  field: string;
}

/** An option for each field of the wire model: `--theme-color`, and `--starter` for each of the `starters`. */
function declareOptions(): Record<string, DeclaredOption> {
  const { name, settings } = companionFields();
  const { enabled: _, ...fields } = settings;
  const options: Record<string, DeclaredOption> = {
    name: { field: "name", value: free("name"), about: describe(name), isRequired: true, read: asText },
  };
  for (const [field, schema] of Object.entries(fields)) {
    const kind = kinds[schema.type];
    if (kind === undefined) throw new Error(`no option can be made of the type of ${field}`);
    const singular = kind.isRepeatable ? field.replace(/s$/, "") : field;
    const value = values[field] ?? kind.value;
    options[singular.replaceAll("_", "-")] = {
      ...kind,
      field,
      about: describe(schema),
      ...(value === undefined ? {} : { value }),
    };
  }
  options["slug"] = {
    field: "slug",
    value: free("slug"),
    about: "What files call it, unique in the account.",
    read: asText,
  };
  options.disabled = { field: "enabled", about: "Create it disabled: it does not reply yet.", read: () => false };
  return options;
}

/** The first sentence, the range, and what holds if the option is left out. */
function describe({ description = "", minimum, maximum }: FieldSchema): string {
  const range = maximum === undefined ? "" : ` From ${minimum} to ${maximum}.`;
  const unset = description.match(/ Not set: .*/s)?.[0] ?? "";
  return (description.replace(/\. .*/s, ".") + range + unset).replaceAll("`", "");
}

const declared = declareOptions();

const settingOptions: Readonly<Record<string, OptionSpec>> = declared;

/** Turns the options of `companion create` into the body that the management API expects. */
function readCompanionBody(args: Arguments): JsonObject {
  const body: JsonObject = {};
  for (const [option, { field, read }] of Object.entries(declared)) {
    if (args.has(option)) body[field] = read(args.list(option), option);
  }
  return body;
}

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
