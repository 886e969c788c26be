/** Reads the operator's file of providers and chains, and reports everything that is wrong with it together. */
import { dirname, resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { type LlmApi, llmApis } from "../domain/llm-api.ts";
import { plainProviderName, reservedProviderNames, splitName } from "../domain/model-routes.ts";
import { type ReasoningEffort, reasoningEfforts } from "../domain/reasoning.ts";
import type { ProviderLocation } from "../domain/reply-failure.ts";
import type { Answerer } from "../domain/usage.ts";
import { readHeaderFields } from "./operator-values.ts";
import { describeFileError, nameForOperator, readText, withoutLineEnd } from "./text-file.ts";
import { BadValue, baseUrl, oneOf, type ParseValue, quote, requestFields, secret, word } from "./values.ts";

/** A provider by the name that the operator gave it. */
export interface NamedProvider {
  readonly name: string;
  /** Up to and including `/v1`, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** An absolute path as the operator knows it, for advice; null without a key. */
  readonly keyFile: string | null;
  /** What companions may ask of it; if there are any, aliases may name no others. */
  readonly models: readonly string[];
  /** Merged into every request to it. */
  readonly extra: JsonObject;
  /** Added to every request to it; values can be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly api: LlmApi;
  /** For requests that name none; null leaves it to COMPANIOND_REASONING_EFFORT. */
  readonly reasoningEffort: ReasoningEffort | null;
}

export interface ProvidersFile {
  readonly providers: readonly NamedProvider[];
  readonly aliases: Readonly<Record<string, readonly Answerer[]>>;
}

/** Where the provider of this name is, and which file set it. */
export function findLocation(
  llm: { baseUrl: string | null; providersFile: string | null; providers: readonly NamedProvider[] },
  name: string,
): ProviderLocation {
  const found = llm.providers.find((one) => one.name === name);
  if (found === undefined || llm.providersFile === null) return { baseUrl: llm.baseUrl, named: null };
  return { baseUrl: found.baseUrl, named: { name, keyFile: found.keyFile, file: nameForOperator(llm.providersFile) } };
}

/** With 12 entries in a chain, each has at least 5 s of the 60 that a visitor waits. */
const most = { providers: 20, models: 200, aliases: 100, entries: 12, nameLength: 200, bytes: 1024 * 1024 };

/**
 * `refuse` takes a sentence per problem, which begins with the position in the file. `hasPlain`: whether the plain
 * settings name a provider, so that `default/model` means something. Null if the file cannot be used at all.
 */
export function readProviders(
  file: string,
  hasPlain: boolean,
  refuse: (sentence: string) => void,
): ProvidersFile | null {
  const unusable = (sentence: string) => {
    refuse(sentence);
    return null;
  };
  const text = readText(file);
  if (text instanceof Error) return unusable(describeFileError(text));
  if (text.length > most.bytes) return unusable("the file is larger than 1 MiB.");
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return unusable("the file is not JSON.");
  }
  if (!isJsonObject(value)) return unusable("the file must be a JSON object with providers and models.");
  return new ProvidersReader(dirname(file), hasPlain, refuse).read(value);
}

const providerMembers = ["name", "base_url", "api_key_file", "models", "extra", "headers", "api", "reasoning_effort"];

class ProvidersReader {
  readonly #dir: string;
  readonly #hasPlain: boolean;
  readonly #refuse: (sentence: string) => void;
  readonly #providers = new Map<string, NamedProvider>();

  constructor(dir: string, hasPlain: boolean, refuse: (sentence: string) => void) {
    this.#dir = dir;
    this.#hasPlain = hasPlain;
    this.#refuse = refuse;
  }

  read(file: JsonObject): ProvidersFile {
    this.#checkMembers("the file", file, ["providers", "models"]);
    for (const [index, entry] of this.#list("providers", file.providers, most.providers).entries()) {
      this.#readProvider(`providers[${index}]`, entry);
    }
    const aliases: [string, readonly Answerer[]][] = [];
    const { models = {} } = file;
    if (!isJsonObject(models)) this.#refuse("models must be an object of aliases, each with a list of provider/model.");
    else {
      const named = Object.entries(models);
      if (named.length > most.aliases) this.#refuse(`models must not have more than ${most.aliases} aliases.`);
      for (const [alias, entries] of named) aliases.push([alias, this.#readAlias(alias, entries)]);
    }
    return { providers: [...this.#providers.values()], aliases: Object.fromEntries(aliases) };
  }

  #readProvider(field: string, entry: JsonValue): void {
    if (!isJsonObject(entry)) {
      this.#refuse(`${field} must be an object with name, base_url, api_key_file and models.`);
      return;
    }
    this.#checkMembers(field, entry, providerMembers);
    const name = this.#parse(`${field}.name`, entry.name, providerName) ?? "";
    if (this.#providers.has(name)) this.#refuse(`${field}.name is that of another provider: ${name}.`);
    const url = this.#parse(`${field}.base_url`, entry.base_url, baseUrl) ?? "";
    const models = this.#list(`${field}.models`, entry.models ?? [], most.models).map((model, index) =>
      this.#parse(`${field}.models[${index}]`, model, modelName(most.nameLength - name.length - 1)),
    );
    const key = this.#readKey(`${field}.api_key_file`, entry.api_key_file ?? null);
    const { extra = {} } = entry;
    if (!isJsonObject(extra)) this.#refuse(`${field}.extra must be an object.`);
    const taken = isJsonObject(extra) ? requestFields.filter((one) => Object.hasOwn(extra, one)) : [];
    if (taken.length > 0) {
      this.#refuse(`${field}.extra must not contain ${taken.join(", ")}: the server sets it itself.`);
    }
    const headers = this.#attempt(`${field}.headers`, () => readHeaderFields(entry.headers ?? {})) ?? {};
    const api = this.#parse(`${field}.api`, entry.api ?? "auto", oneOf(llmApis)) ?? "auto";
    const effort = entry.reasoning_effort ?? null;
    const reasoningEffort =
      effort === null ? null : this.#parse(`${field}.reasoning_effort`, effort, oneOf(reasoningEfforts));
    if (name === "") return;
    const settings = { api, reasoningEffort, extra: isJsonObject(extra) ? extra : {}, headers };
    const known = [...new Set(models.filter((model) => model !== null))];
    this.#providers.set(name, { name, baseUrl: url, ...key, ...settings, models: known });
  }

  /** The file is named, its content never. */
  #readKey(field: string, value: JsonValue): Pick<NamedProvider, "apiKey" | "keyFile"> {
    const none = { apiKey: null, keyFile: null };
    if (value === null) return none;
    if (typeof value !== "string" || value === "" || value.includes("\0")) {
      this.#refuse(`${field} must be the path of a file, relative to this one or absolute.`);
      return none;
    }
    const keyFile = resolve(this.#dir, value);
    const text = readText(keyFile);
    if (text instanceof Error) {
      this.#refuse(`${field}: ${describeFileError(text)}`);
      return none;
    }
    return {
      apiKey: this.#parse(`The content of ${field}`, withoutLineEnd(text), secret),
      keyFile: nameForOperator(keyFile),
    };
  }

  #readAlias(alias: string, value: JsonValue): readonly Answerer[] {
    const field = `models[${JSON.stringify(alias)}]`;
    this.#parse(`the name of ${field}`, alias, modelName(most.nameLength));
    const named = splitName(alias);
    if (named !== null && (this.#providers.has(named.provider) || named.provider === plainProviderName)) {
      this.#refuse(`${field} must not begin with the name of a provider: that would be the provider's own model.`);
    }
    const entries = this.#list(field, value, most.entries);
    if (Array.isArray(value) && value.length === 0) this.#refuse(`${field} must have at least one provider/model.`);
    const answerers: Answerer[] = [];
    for (const [index, entry] of entries.entries()) {
      const answerer = this.#parse(`${field}[${index}]`, entry, (text) => this.#readAnswerer(text));
      if (answerer === null) continue;
      if (entries.indexOf(entry) < index) this.#refuse(`${field}[${index}] is there twice: ${String(entry)}.`);
      answerers.push(answerer);
    }
    return answerers;
  }

  #readAnswerer(text: string): Answerer {
    const found = splitName(text);
    if (found === null || found.model === "") throw new BadValue("must be provider/model.");
    word(found.model);
    const { provider, model } = found;
    if (provider === plainProviderName) {
      if (this.#hasPlain) return found;
      throw new BadValue("names default, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.");
    }
    const models = this.#providers.get(provider)?.models;
    if (models === undefined) throw new BadValue(`names a provider that is not in the file: ${quote(provider)}.`);
    if (models.length === 0 || models.includes(model)) return found;
    throw new BadValue(`names a model that is not among those of ${provider}: ${quote(model)}.`);
  }

  #parse<Value>(field: string, value: JsonValue | undefined, parse: ParseValue<Value>): Value | null {
    return this.#attempt(field, () => {
      if (typeof value !== "string") throw new BadValue(value === undefined ? "is missing." : "must be a text.");
      return parse(value);
    });
  }

  #attempt<Value>(field: string, read: () => Value): Value | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.#refuse(`${field} ${error.message}`);
      return null;
    }
  }

  #list(field: string, value: JsonValue | undefined, longest: number): readonly JsonValue[] {
    if (Array.isArray(value) && value.length <= longest) return value;
    this.#refuse(
      value === undefined ? `${field} is missing.` : `${field} must be a list of at most ${longest} entries.`,
    );
    return [];
  }

  #checkMembers(field: string, object: JsonObject, known: readonly string[]): void {
    for (const name of Object.keys(object)) {
      if (!known.includes(name)) this.#refuse(`${field} must not have ${quote(name)}: it takes ${known.join(", ")}.`);
    }
  }
}

const providerName: ParseValue<string> = (text) => {
  if (!/^[a-z0-9-]{1,32}$/.test(text)) {
    throw new BadValue(`must be 1 to 32 lower-case letters, digits and hyphens, not ${quote(text)}.`);
  }
  if (reservedProviderNames.includes(text)) throw new BadValue(`must not be ${text}, which has a meaning of its own.`);
  return text;
};

function modelName(longest: number): ParseValue<string> {
  return (text) => {
    if (text === "" || text.length > longest) throw new BadValue(`must be 1 to ${longest} characters long.`);
    return word(text);
  };
}
