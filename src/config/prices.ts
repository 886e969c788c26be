/** Reads the operator's prices: exact decimals of US dollars, with all mistakes reported together. */
import type { JsonObject, JsonValue } from "../domain/companion.ts";
import { isJsonObject } from "../domain/json.ts";
import { splitName } from "../domain/model-routes.ts";
import { picosPerMicro } from "../domain/money.ts";
import type { PriceList, TokenPrice } from "../domain/prices.ts";

const voicePrefix = "voice/";
/** So that exact sums of any real amount of usage stay far within what a double holds. */
const maxPerMillion = 1_000_000;
const maxPerMinute = 1000;
const decimals = 6;

/**
 * The prices in `given`; `refuse` takes one sentence per problem, which begins with the entry's name. What stands before
 * the first slash is a provider only if `isProvider` knows it.
 */
export function readPrices(
  given: JsonObject,
  isProvider: (name: string) => boolean,
  refuse: (sentence: string) => void,
): PriceList {
  const tokens: PriceList["tokens"][number][] = [];
  const minutes: PriceList["minutes"][number][] = [];
  for (const [key, value] of Object.entries(given)) {
    const entry = new PriceEntry(key, value, refuse);
    if (key.startsWith(voicePrefix)) {
      const dollars = entry.read(["minute"], maxPerMinute);
      const provider = key.slice(voicePrefix.length);
      if (provider === "") refuse(`${JSON.stringify(key)} names no voice provider.`);
      if (dollars !== null) minutes.push({ provider, price: dollars.minute * picosPerMicro });
      continue;
    }
    const dollars = entry.read(["input", "output"], maxPerMillion, ["cached_input", "cache_write"]);
    const named = splitName(key);
    const answerer = named !== null && isProvider(named.provider) ? named : { provider: null, model: key };
    if (answerer.model === "") refuse(`${JSON.stringify(key)} names no model.`);
    if (dollars === null) continue;
    const price: TokenPrice = {
      input: dollars.input,
      cachedInput: dollars.cached_input ?? dollars.input,
      cacheWrite: dollars.cache_write ?? dollars.input,
      output: dollars.output,
    };
    tokens.push({ ...answerer, price });
  }
  return { tokens, minutes };
}

class PriceEntry {
  readonly #name: string;
  readonly #value: JsonValue;
  readonly #refuse: (sentence: string) => void;

  constructor(key: string, value: JsonValue, refuse: (sentence: string) => void) {
    this.#name = JSON.stringify(key);
    this.#value = value;
    this.#refuse = refuse;
  }

  /** Each amount in millionths of a dollar's unit; null if anything is wrong with the entry. */
  read<Required extends string, Optional extends string = never>(
    required: readonly Required[],
    most: number,
    optional: readonly Optional[] = [],
  ): (Record<Required, number> & Partial<Record<Optional, number>>) | null {
    const members: readonly string[] = [...required, ...optional];
    if (!isJsonObject(this.#value)) {
      this.#refuse(`${this.#name} must be an object with ${members.join(", ")}.`);
      return null;
    }
    let isRight = true;
    const amounts: Record<string, number> = {};
    const object = this.#value;
    const refuse = (sentence: string) => {
      isRight = false;
      this.#refuse(sentence);
    };
    for (const name of Object.keys(object)) {
      if (!members.includes(name)) {
        refuse(`${this.#name} must not have ${JSON.stringify(name)}: it takes ${members.join(", ")}.`);
      }
    }
    for (const name of members) {
      if (!Object.hasOwn(object, name)) {
        if (required.some((one) => one === name)) refuse(`${this.#name} lacks ${name}.`);
        continue;
      }
      const amount = toMillionths(object[name], most);
      if (amount === null) {
        refuse(`${this.#name}: ${name} must be a number of US dollars from 0 to ${most} with at most six decimals.`);
      } else amounts[name] = amount;
    }
    return isRight ? (amounts as Record<Required, number> & Partial<Record<Optional, number>>) : null;
  }
}

/** Read from the shortest decimal that means this number: `0.1` is a tenth, not the double nearest to it. */
function toMillionths(value: JsonValue | undefined, most: number): number | null {
  if (typeof value !== "number" || value > most) return null;
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === undefined || fraction.length > decimals) return null;
  return Number(whole + fraction.padEnd(decimals, "0"));
}
