/** Reads the calls in the deltas of a chat, however its vendor cuts, numbers and names them. */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { AskedCalls, isWhole, type OpenCall } from "./asked-calls.ts";
import type { AskedAnswer, AskedReader } from "./wire.ts";

type Fields = Record<string, unknown>;

/** Of thoughts that are kept to be sent back, in UTF-16 units as JSON; longer ones are not. */
const maxThoughtUnits = 1024 * 1024;
const maxDetails = 256;
/** Members of a call in which vendors, Google among them, put signatures that they want back. */
const signatures = ["extra_content", "provider_specific_fields"] as const;

interface Named {
  id: unknown;
  name: unknown;
  args: unknown;
}

export class ChatCalls implements AskedReader {
  readonly #asked: AskedCalls;
  /** Those at hand, by what their parts are numbered with; the last one of a number. */
  readonly #byIndex = new Map<unknown, OpenCall>();
  readonly #signed = new Map<OpenCall, JsonObject>();
  /** In the words of DeepSeek and Moonshot, which refuse results without them. */
  #reasoningContent = "";
  /** OpenRouter's, which may be signed. */
  readonly #details: Fields[] = [];
  #thoughtUnits = 0;

  constructor(round: number) {
    this.#asked = new AskedCalls(round);
  }

  get bytes(): number {
    return this.#asked.bytes;
  }

  get excess(): string | null {
    return this.#asked.excess;
  }

  /** `delta`: or the message of a whole completion. */
  take(delta: Fields): void {
    const { tool_calls: parts, function_call: older, reasoning_content: reasoning, reasoning_details: details } = delta;
    if (typeof reasoning === "string" && this.#keeps(reasoning.length)) this.#reasoningContent += reasoning;
    for (const detail of listFields(details)) this.#addDetail(detail);
    const called = listFields(parts);
    // What OpenAI had before there were parallel calls, and some servers still have, a few of them both.
    if (called.length === 0 && isJsonObject(older)) called.push({ index: "function_call", function: older });
    for (const part of called) this.#addPart(part);
  }

  finish(isCut: boolean): AskedAnswer {
    const named = this.#asked.finish(isCut);
    const calls = named.map(({ call }) => call);
    const signed = named.map(({ index }) => this.#signed.get(this.#asked.calls[index] as OpenCall) ?? {});
    const thoughts: JsonObject = {};
    if (this.#thoughtUnits <= maxThoughtUnits) {
      if (this.#reasoningContent !== "") thoughts.reasoning_content = this.#reasoningContent.toWellFormed();
      if (this.#details.length > 0) thoughts.reasoning_details = this.#details as JsonObject[];
    }
    const isNothing = Object.keys(thoughts).length === 0 && signed.every((one) => Object.keys(one).length === 0);
    return { calls, carry: calls.length === 0 || isNothing ? null : { thoughts, signed } };
  }

  #addPart(part: Fields): void {
    const { index, id } = part;
    const { name, arguments: args } = isJsonObject(part.function) ? part.function : {};
    const call = this.#find(index, { id, name, args });
    // Some begin with an empty object before the real one, or send all of it again at the end.
    if (isText(args) && args.startsWith("{") && isWhole(call.arguments)) call.arguments = "";
    this.#asked.add(call, { id, name, args });
    for (const member of signatures) {
      const value = part[member];
      if (!isJsonObject(value) || !this.#keeps(JSON.stringify(value).length)) continue;
      this.#signed.set(call, { ...this.#signed.get(call), [member]: value as JsonObject });
    }
  }

  #find(index: unknown, part: Named): OpenCall {
    const isNumbered = index !== undefined && index !== null;
    const known = isNumbered ? this.#byIndex.get(index) : this.#findUnnumbered(part);
    if (known !== undefined && !beginsAnother(known, part)) return known;
    const call = this.#asked.open();
    if (isNumbered) this.#byIndex.set(index, call);
    return call;
  }

  #findUnnumbered({ id, name }: Named): OpenCall | undefined {
    const { calls } = this.#asked;
    const named = isText(id) ? calls.find((call) => call.id === id) : undefined;
    const isNew = isText(id) && isText(name) && calls.at(-1)?.id !== "";
    return named ?? (isNew ? undefined : calls.at(-1));
  }

  /** They come in parts, which have a number in common. */
  #addDetail(detail: Fields): void {
    if (!this.#keeps(JSON.stringify(detail).length)) return;
    const { index, type } = detail;
    const known = this.#details.find((one) => typeof index === "number" && one.index === index && one.type === type);
    if (known === undefined) {
      if (this.#details.length < maxDetails) this.#details.push({ ...detail });
      return;
    }
    for (const [member, value] of Object.entries(detail)) {
      if (value === null || value === undefined) continue;
      const before = known[member];
      const isPart = ["text", "summary", "data"].includes(member) && typeof before === "string";
      known[member] = isPart ? before + String(value) : value;
    }
  }

  #keeps(units: number): boolean {
    this.#thoughtUnits += units;
    return this.#thoughtUnits <= maxThoughtUnits;
  }
}

/**
 * Whether a part with the number of a call is one of its own: some number all with 0. Not before that call is whole, since
 * some send its name, or another id, with each part.
 */
function beginsAnother(known: OpenCall, { id, name, args }: Named): boolean {
  if (!isText(name) || (isText(id) && known.id === id)) return false;
  const isOther = isText(id) && known.id !== "";
  return (isOther || (args !== "" && args !== undefined && args !== null)) && isWhole(known.arguments);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function listFields(values: unknown): Fields[] {
  return Array.isArray(values) ? values.filter(isJsonObject) : [];
}
