/** Records the results of one payload: each value written, each read back, and what came back changed. */
import type { ApiResponse, Call, Client } from "./client.ts";
import type { Tally } from "./row.ts";

export const payloadFaults = [
  "values refused by fields that accept any text",
  "values refused without a reason",
  "values read back changed",
  "searches with a wrong result",
  "pages that a payload changed",
] as const;

export class PayloadNotes {
  readonly payload: string;
  readonly #tally: Tally;

  constructor(payload: string, tally: Tally) {
    this.payload = payload;
    this.#tally = tally;
  }

  /** Sends a value that must be accepted. */
  async write(client: Client, call: Call): Promise<ApiResponse> {
    const response = await client.send(call);
    const times = JSON.stringify(call.body ?? "").split(JSON.stringify(this.payload)).length - 1;
    this.#tally.did("values written", times);
    if (response.status >= 300) this.#fault(0, `${call.method} ${call.path}: ${response.text}`);
    return response;
  }

  /** Records a value that the field may refuse. */
  accept(name: string, { status, json, text }: ApiResponse): void {
    this.#tally.did("values that a field may refuse");
    if (status < 300) return;
    const isNamed = status === 400 && json.errors?.some(({ param }) => param.startsWith(name));
    if (!isNamed) this.#fault(1, `${name}: ${status} ${text}`);
  }

  equal(what: string, seen: unknown, expected: unknown): void {
    this.#tally.did("values read back");
    if (Bun.deepEquals(seen, expected)) return;
    this.#fault(2, `${what}: ${JSON.stringify(seen)} and not ${JSON.stringify(expected)}`);
  }

  found(what: string, isRight: boolean): void {
    this.#tally.did("finds looked at");
    if (!isRight) this.#fault(3, what);
  }

  changedPage(what: string): void {
    this.#fault(4, what);
  }

  #fault(kind: 0 | 1 | 2 | 3 | 4, example: string): void {
    this.#tally.fault(payloadFaults[kind], `${JSON.stringify(this.payload)}: ${example}`);
  }
}
