/**
 * Keeps the output of a model over the Responses API: its calls, and every item as it came, since the provider wants them
 * back with the results, thoughts (encrypted) and calls in their order.
 */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { AskedCall } from "../../domain/tool.ts";
import { AskedCalls, findExcess, type OpenCall, textOfArguments } from "./asked-calls.ts";
import type { AskedAnswer, AskedReader } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;

const maxItems = 256;
/** Of all items, as JSON; what is kept is sent again with every further round. */
const maxItemUnits = 4 * 1024 * 1024;

export class ResponseItems implements AskedReader {
  readonly #round: number;
  /** By the deltas, of which some servers send nothing else. */
  readonly #streamed: AskedCalls;
  readonly #byItem = new Map<unknown, OpenCall>();
  #items: JsonObject[] = [];
  #itemUnits = 0;
  #excess: string | null = null;
  #itemBytes = 0;

  constructor(round: number) {
    this.#round = round;
    this.#streamed = new AskedCalls(round);
  }

  get bytes(): number {
    return Math.max(this.#streamed.bytes, this.#itemBytes);
  }

  get excess(): string | null {
    return this.#excess ?? this.#streamed.excess;
  }

  /** `output_item.added`. */
  begin(item: Fields, index: unknown): void {
    if (item.type !== "function_call") return;
    const call = this.#byItem.get(item.id) ?? this.#open(item.id, index);
    this.#streamed.add(call, { id: item.call_id, name: item.name, args: item.arguments });
  }

  /** `function_call_arguments.delta` or, with all of them, `.done`. */
  takeArguments({ item_id: id, output_index: index, delta, arguments: whole, name }: Fields): void {
    const call = this.#byItem.get(id) ?? this.#byItem.get(index) ?? this.#open(id, index);
    const isRest = typeof whole === "string" && whole.startsWith(call.arguments);
    this.#streamed.add(call, { id: null, name, args: isRest ? whole.slice(call.arguments.length) : delta });
  }

  /** `output_item.done`. */
  take(given: unknown): void {
    if (!isJsonObject(given)) return;
    const item = isCall(given) ? this.#completed(given) : given;
    const { id, type } = item;
    const known = typeof id === "string" ? this.#items.findIndex((one) => one.id === id && one.type === type) : -1;
    if (known === -1) this.#items.push(item);
    else this.#items[known] = item;
    this.#itemUnits += JSON.stringify(item).length;
    const isTooMuch = this.#itemUnits > maxItemUnits || this.#items.length > maxItems;
    if (isTooMuch) this.#excess ??= "the model puts out too much beside its text";
    if (!isCall(item)) return;
    const bytes = Buffer.byteLength(`${item.call_id}${item.name}${item.arguments}`);
    this.#itemBytes += bytes;
    this.#excess ??= findExcess(this.#items.filter(isCall).length, bytes);
  }

  /** The whole output, where it ends: for servers that have sent it nowhere else. */
  takeOutput(output: unknown): void {
    if (!Array.isArray(output) || this.#items.some(isCall) || !output.some(isCall)) return;
    this.#items = [];
    for (const item of output) this.take(item);
  }

  finish(isCut: boolean): AskedAnswer {
    if (!this.#items.some(isCall)) {
      return { calls: this.#streamed.finish(isCut).map(({ call }) => call), carry: null };
    }
    const asked = new AskedCalls(this.#round);
    const positions: number[] = [];
    for (const [position, item] of this.#items.entries()) {
      if (!isCall(item)) continue;
      asked.add(asked.open(), { id: item.call_id, name: item.name, args: item.arguments });
      positions.push(position);
    }
    const named = new Map(asked.finish(isCut).map(({ call, index }) => [positions[index], call]));
    return { calls: [...named.values()], carry: named.size === 0 ? null : { items: this.#toCarried(named) } };
  }

  /** Without what the API would not accept back: calls that are none, unreadable thoughts, or with nothing behind. */
  #toCarried(named: ReadonlyMap<number | undefined, AskedCall>): JsonObject[] {
    const kept = this.#items.flatMap((item, position): JsonObject[] => {
      const call = named.get(position);
      if (call !== undefined) return [{ ...item, call_id: call.id }];
      return isCall(item) || isUnreadable(item) ? [] : [item];
    });
    while (kept.at(-1)?.type === "reasoning") kept.pop();
    if (!this.#items.some(isUnreadable)) return kept;
    // An item that is known by its id is wanted together with the thoughts before it.
    return kept.map(({ id: _, ...item }) => item);
  }

  /** Some gateways leave out of the item what they have sent in parts. */
  #completed(item: JsonObject): JsonObject {
    const args = textOfArguments(item.arguments);
    const streamed = this.#byItem.get(item.id);
    return { ...item, arguments: args === "" ? (streamed?.arguments ?? "") : args };
  }

  #open(id: unknown, index: unknown): OpenCall {
    const call = this.#streamed.open();
    for (const key of [id, index]) if (key !== undefined) this.#byItem.set(key, call);
    return call;
  }
}

function isCall(item: unknown): item is JsonObject {
  return isJsonObject(item) && item.type === "function_call";
}

/** Thoughts that are neither encrypted nor open: a provider that has stored nothing knows them no more. */
function isUnreadable({ type, encrypted_content: sealed, content }: JsonObject): boolean {
  return type === "reasoning" && typeof sealed !== "string" && !(Array.isArray(content) && content.length > 0);
}
