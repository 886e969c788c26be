/** `/api/budgets`: how much calls may cost in a day or a month. */
import type { Budget, BudgetList, BudgetPatch, ListBudgetsQuery, NewBudget } from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions } from "../transport.ts";
import { type CreateOptions, creationHeaders, type Transport } from "../transport.ts";

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

    get: (id: string, options: CallOptions = {}) =>
      transport.json<Budget>({ method: "GET", path: [...path, id] }, options),

    /** Only the fields that are sent change. */
    update: (id: string, patch: BudgetPatch, options: CallOptions = {}) =>
      transport.json<Budget>({ method: "PATCH", path: [...path, id], body: patch }, options),

    delete: (id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id] }, options),
  };
}
