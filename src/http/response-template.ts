/** Responses of one route that differ in a few headers: copying the first one's and setting those beats making all anew. */
import type { HeaderBag } from "./problem.ts";

export class ResponseTemplate {
  readonly #varying: readonly string[];
  #headers = new Headers();
  #count = -1;

  /** The names of the headers whose values differ from request to request; which are there must not. */
  constructor(varying: readonly string[]) {
    this.#varying = varying;
  }

  /** A 200 with all that `set.headers` has, which is taken from there: Elysia returns it as it is. */
  respond(body: string, set: { headers: unknown }): Response {
    const bag = set.headers as Record<string, string> & HeaderBag;
    set.headers = {};
    const count = Object.keys(bag).length;
    if (count !== this.#count) {
      this.#count = count;
      this.#headers = new Headers(bag);
    }
    const response = new Response(body, { headers: this.#headers });
    for (const name of this.#varying) {
      const value = bag[name];
      if (value !== undefined) response.headers.set(name, value);
    }
    return response;
  }
}
