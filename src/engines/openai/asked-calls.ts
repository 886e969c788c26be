/** Puts the calls of one response together, within bounds, and gives a name to those that have none. */
import { isJsonObject } from "../../domain/json.ts";
import type { AskedCall } from "../../domain/tool.ts";

/** A model that goes beyond these goes on without end; its calls are useless, and the reply fails. */
const maxCalls = 32;
/** Of one call, with its name and id, which some gateways put signatures into. */
const maxCallBytes = 64 * 1024;

/** `bytes`: the size of the largest. */
export function findExcess(count: number, bytes: number): string | null {
  if (count > maxCalls) return "the model asks for too many calls";
  return bytes > maxCallBytes ? "the model asks for a call that is too long" : null;
}

/** A call as far as it has come. */
export interface OpenCall {
  id: string;
  name: string;
  arguments: string;
  bytes: number;
}

export class AskedCalls {
  bytes = 0;
  excess: string | null = null;
  readonly calls: OpenCall[] = [];
  readonly #round: number;

  constructor(round: number) {
    this.#round = round;
  }

  open(): OpenCall {
    const call = { id: "", name: "", arguments: "", bytes: 0 };
    this.excess ??= findExcess(this.calls.length + 1, 0);
    if (this.excess === null) this.calls.push(call);
    return call;
  }

  /** The first id and the first name count: some repeat them, and some make up an id for each part. */
  add(call: OpenCall, { id, name, args }: { id: unknown; name: unknown; args: unknown }): void {
    if (call.id === "" && typeof id === "string") call.id = this.#take(call, id);
    if (call.name === "" && typeof name === "string") call.name = this.#take(call, name);
    const text = textOfArguments(args);
    if (text !== "") call.arguments += this.#take(call, text);
  }

  /** Those that can be called, in their order, with the position of each. */
  finish(isCut: boolean): { call: AskedCall; index: number }[] {
    const named: { call: AskedCall; index: number }[] = [];
    const ids = new Set<string>();
    for (const [index, { id: given, name, arguments: args }] of this.calls.entries()) {
      if (name === "" || (isCut && !isWhole(args))) continue;
      const id = given === "" || ids.has(given) ? this.#makeId(index, ids) : given;
      ids.add(id);
      // Without parameters, some leave them empty.
      const text = args.trim() === "" ? "{}" : toStorable(args);
      named.push({ call: { id: toStorable(id), name: toStorable(name), arguments: text }, index });
    }
    return named;
  }

  #take(call: OpenCall, text: string): string {
    const bytes = Buffer.byteLength(text);
    call.bytes += bytes;
    this.bytes += bytes;
    this.excess ??= findExcess(0, call.bytes);
    return text;
  }

  /** Unique in the turn. Nine letters and digits, which is what Mistral's templates insist on. */
  #makeId(index: number, ids: ReadonlySet<string>): string {
    for (let number = index + 1; ; number++) {
      const id = `call${String(this.#round).padStart(2, "0")}${String(number).padStart(3, "0")}`;
      if (!ids.has(id) && !this.calls.some((call) => call.id === id)) return id;
    }
  }
}

/** Whether nothing is missing at the end. */
export function isWhole(args: string): boolean {
  // Spares parsing nearly all that are not.
  return args.trimEnd().endsWith("}") && isJsonText(args);
}

export function isJsonText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Some send an object where a text is described. */
export function textOfArguments(args: unknown): string {
  if (typeof args === "string") return args;
  return typeof args === "object" && args !== null ? JSON.stringify(args) : "";
}

/** Well-formed, and without NUL, which not every store can keep. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}
