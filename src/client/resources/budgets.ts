/** `/api/budgets`: how much calls may cost in a day or a month. */
import type {
  Budget,
  BudgetList,
  BudgetPatch,
  BudgetPreview,
  BudgetSubject,
  ListBudgetsQuery,
  NewBudget,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  condition,
  creationHeaders,
  readVersion,
  type Transport,
} from "../transport.ts";

export function budgetCalls(transport: Transport) {
  const path = ["api", "budgets"];
  const list = (query: ListBudgetsQuery = {}, options: CallOptions = {}) =>
    transport.json<BudgetList>({ method: "GET", path, query }, options);

  return {
    /** One page, newest first, with what each has seen in its period so far. */
    list,
    listAll: (query: ListBudgetsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),

    create: (budget: NewBudget, options: CreateOptions = {}) =>
      transport.json<Budget>({ method: "POST", path, body: budget, headers: creationHeaders(options) }, options),

    /** What such a budget would have counted so far, and what it must leave for a reply. Makes nothing. */
    preview: (subject: BudgetSubject, options: CallOptions = {}) =>
      transport.json<BudgetPreview>({ method: "POST", path: [...path, "preview"], body: subject }, options),

    get: (id: string, options: CallOptions = {}) =>
      transport.json<Budget>({ method: "GET", path: [...path, id] }, options),

    /** With the version that it has, no matter what is spent meanwhile: for `ifMatch`. */
    async getVersion(id: string, options: CallOptions = {}) {
      const { found: budget, etag } = await readVersion<Budget>(transport, [...path, id], options);
      return { budget, etag };
    },

    /** Only the fields that are sent change. */
    update: (id: string, patch: BudgetPatch, options: ChangeOptions = {}) =>
      transport.json<Budget>({ method: "PATCH", path: [...path, id], body: patch, ...condition(options) }, options),

    delete: (id: string, options: ChangeOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id], ...condition(options) }, options),
  };
}
