/** Turns the options of `companion create` into the body that the management API expects. */
import type { JsonObject, JsonValue } from "../domain/companion.ts";
import { type Arguments, Misuse, type OptionSpec } from "./command.ts";

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

const declared: Record<string, SettingOption> = {
  name: { value: "N", about: "Its name, shown to visitors.", isRequired: true, read: asText },
  "system-prompt": { value: "T", about: "Instruction text for the language model.", read: asText },
  greeting: { value: "T", about: "Opening message.", read: asText },
  "avatar-url": { value: "URL", about: "Avatar image, http or https.", read: asText },
  "theme-color": { value: "#rrggbb", about: "Theme colour.", read: asText },
  "voice-id": { value: "ID", about: "A voice of the voice-agent provider.", read: asText },
  "voice-agent-id": { value: "ID", about: "An existing agent at the voice-agent provider.", read: asText },
  model: { value: "M", about: "One of the models that the server offers.", read: asText },
  temperature: { value: "X", about: "0 to 2.", read: asNumber },
  "max-output-tokens": { value: "N", about: "Longest reply.", read: asNumber },
  "context-tokens": {
    value: "N",
    about: "Size of a model request in tokens: instructions, conversation, message (8000).",
    read: asNumber,
  },
  metadata: { value: "JSON", about: "A JSON object of your own.", read: asJsonObject },
  "allowed-origin": { value: "O", about: "An origin that may embed it.", isRepeatable: true, read: asList },
  starter: { value: "T", about: "A suggested first message.", isRepeatable: true, read: asList },
  "retention-days": { value: "N", about: "Delete older conversations.", read: asNumber },
  disabled: { about: "Create it disabled: it does not reply yet.", read: () => false },
};

/** Where the field name is not the option's name in snake_case. */
const fieldNames: Record<string, string> = {
  "allowed-origin": "allowed_origins",
  starter: "starters",
  disabled: "enabled",
};

export const settingOptions: Readonly<Record<string, OptionSpec>> = declared;

export function readCompanionBody(args: Arguments): JsonObject {
  const body: JsonObject = {};
  for (const [option, { read }] of Object.entries(declared)) {
    if (args.has(option)) body[fieldNames[option] ?? option.replaceAll("-", "_")] = read(args.list(option), option);
  }
  return body;
}
