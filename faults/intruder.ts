/**
 * Tries every operation of the API with another account's ids, and compares the responses with those for missing ids.
 */
import type { Belongings, Ids } from "./belongings.ts";
import type { ApiResponse, Call, Client } from "./client.ts";
import { fillPath, type Operation } from "./document.ts";
import type { Tally } from "./row.ts";

export const intruderFaults = [
  "responses that differ from those to a missing id",
  "responses that reveal something of the other account",
] as const;

export interface Caller {
  client: Client;
  own: Belongings;
  /** Operators may see and stop other accounts. */
  isOperator: boolean;
}

export const isOfOperators = ({ path }: Operation) => /^\/api\/(accounts|spending-stops)/.test(path);
export const isPrivate = ({ door }: Operation) => door === "key" || door === "session";

/** An unused id next to it: lists and cursors treat it as the same position. */
function toMissing(id: string): string {
  return id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
}

export const missingIds = (ids: Ids) =>
  Object.fromEntries(Object.entries(ids).map(([noun, id]) => [noun, toMissing(id)])) as unknown as Ids;

/** The value for a path parameter; `id` is that of the noun. */
export function pick(ids: Ids, path: string, name: string): string {
  const noun = name === "id" ? /^\/(?:api|v1)\/([\w-]+)/.exec(path)?.[1] : name;
  return ids[(noun === "models" ? "companions" : noun) as keyof Ids] ?? "none";
}

export class Intruder {
  readonly #caller: Caller;
  readonly #victim: Belongings;
  readonly #missing: Ids;
  readonly #tally: Tally;

  constructor(caller: Caller, victim: Belongings, tally: Tally) {
    this.#caller = caller;
    this.#victim = victim;
    this.#missing = missingIds(victim.ids);
    this.#tally = tally;
  }

  async try(operation: Operation): Promise<void> {
    if (this.#caller.isOperator && isOfOperators(operation)) return;
    this.#tally.did("operations tried");
    if (!isPrivate(operation)) return this.#look(operation);
    await this.#tryPaths(operation);
    await this.#tryQueries(operation);
    // With its own ids, except where that would end the caller: these responses must not reveal others' data either.
    if (operation.method !== "DELETE") await this.#look(operation);
  }

  /** Each id of the path, and all of them together, from the other account. */
  async #tryPaths(operation: Operation): Promise<void> {
    // Every companion has a version of a number.
    const names = [...operation.path.matchAll(/\{(?!number)(\w+)\}/g)].map(([, name = ""]) => name);
    const choices = names.length > 1 ? [...names.map((name) => [name]), names] : [names];
    for (const foreign of names.length === 0 ? [] : choices) {
      const pathOf = (ids: Ids) =>
        fillPath(operation.path, (name) =>
          pick(foreign.includes(name) ? ids : this.#caller.own.ids, operation.path, name),
        );
      await this.#compare(operation, pathOf(this.#victim.ids), pathOf(this.#missing));
    }
  }

  async #tryQueries(operation: Operation): Promise<void> {
    const path = fillPath(operation.path, (name) => pick(this.#caller.own.ids, operation.path, name));
    for (const { name, in: place } of operation.described.parameters ?? []) {
      if (place !== "query") continue;
      for (const [theirs, none] of this.#listQueries(operation.path, name)) {
        await this.#compare(operation, `${path}?${theirs}`, `${path}?${none}`);
      }
    }
  }

  #listQueries(path: string, name: string): [string, string][] {
    const { ids, secrets } = this.#victim;
    const pair = (parameter: string, theirs: string, none: string): [string, string] => [
      `${parameter}=${encodeURIComponent(theirs)}`,
      `${parameter}=${encodeURIComponent(none)}`,
    ];
    const word = secrets[0] ?? "";
    switch (name) {
      case "companion_id":
        return [pair(name, ids.companions, this.#missing.companions)];
      case "visitor_id":
        return [pair(name, ids.visitor_id, this.#missing.visitor_id)];
      case "q":
        return [pair(name, word, "nothing"), pair(name, ids.companions, this.#missing.companions)];
      case "metadata":
        return [pair("metadata.plan", word, "nothing"), pair(`metadata.${word}`, "yes", "nothing")];
      case "after":
        return [pair(name, ids.companions, this.#missing.companions)];
      case "cursor": {
        const noun = path.endsWith("/embed-tokens") ? "token_id" : /(\w+)$/.exec(path)?.[1];
        const cursor = (of: Ids) => Buffer.from(of[noun as keyof Ids] ?? "none").toString("base64url");
        return [pair(name, cursor(ids), cursor(this.#missing))];
      }
      default:
        return [];
    }
  }

  async #compare(operation: Operation, theirs: string, none: string): Promise<void> {
    const call = { method: operation.method, body: operation.bodyExample ?? undefined };
    const types = "200" in operation.described.responses ? ["*/*", "text/csv"] : ["*/*"];
    for (const accept of types) {
      const headers = { accept };
      const given = await this.#send({ ...call, path: theirs, headers });
      const missing = await this.#send({ ...call, path: none, headers });
      this.#tally.did("responses compared");
      if (toShape(given) !== toShape(missing)) {
        const shown = `${given.status} ${given.text} and not ${missing.status} ${missing.text}`;
        this.#tally.fault(intruderFaults[0], `${operation.method} ${theirs}: ${shown}`);
      }
    }
  }

  async #look(operation: Operation): Promise<void> {
    const { own } = this.#caller;
    const path = fillPath(operation.path, (name) => {
      if (name === "token" || name === "file") return operation.method === "GET" ? this.#victim.token : own.token;
      return pick(own.ids, operation.path, name);
    });
    await this.#send({ method: operation.method, path, body: operation.bodyExample ?? undefined });
  }

  async #send(call: Call): Promise<ApiResponse> {
    // The provider does not know the example's voice agent.
    const response = await this.#caller.client.send(call, [502]);
    const shown = this.#victim.secrets.filter((secret) => response.text.includes(secret));
    if (shown.length > 0)
      this.#tally.fault(intruderFaults[1], `${call.method} ${call.path}: ${shown.join()}: ${response.text}`);
    return response;
  }
}

/** Status, headers and body, without what differs for each request. */
export function toShape({ status, headers, text }: ApiResponse): string {
  const counted = ["x-request-id", "date", "ratelimit"];
  const lines = [...headers].filter(([name]) => !counted.includes(name)).map(([name, value]) => `${name}: ${value}`);
  return [status, ...lines, text.replace(/"request_id":"[^"]*"/, '"request_id":""')].join("\n");
}
