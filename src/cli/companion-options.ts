/** Turns the options of `companion create` into the body that the management API expects. */
import { companionFields } from "../api/companions/fields.ts";
import type { JsonObject, JsonValue } from "../domain/companion.ts";
import { reasoningEfforts } from "../domain/reasoning.ts";
import { visitorAuths } from "../domain/visitor.ts";
import { type Arguments, Misuse, type OptionSpec } from "./command.ts";
import { free, oneOf, type Value } from "./value.ts";

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
  try {
    const value: JsonValue = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below, together with JSON that is not an object.
  }
  throw new Misuse(`--${option} must be a JSON object.`);
};

const asList: SettingOption["read"] = (texts) => [...texts];

/** By the type in the field's schema. */
const kinds: Record<string, Omit<SettingOption, "about"> & { value: Value }> = {
  string: { value: free("text"), read: asText },
  number: { value: free("number"), read: asNumber },
  integer: { value: free("number"), read: asNumber },
  object: { value: free("json"), read: asJsonObject },
  array: { value: free("text"), isRepeatable: true, read: asList },
};

/** Where the word of the kind would not tell what to write. */
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
    options[singular.replaceAll("_", "-")] = { ...kind, field, about: describe(schema), value };
  }
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

export const settingOptions: Readonly<Record<string, OptionSpec>> = declared;

export function readCompanionBody(args: Arguments): JsonObject {
  const body: JsonObject = {};
  for (const [option, { field, read }] of Object.entries(declared)) {
    if (args.has(option)) body[field] = read(args.list(option), option);
  }
  return body;
}
