/** `/api/budgets`: how much an account's calls may cost in a day or a month. */
import { maxBudgets } from "../../domain/budget.ts";
import { missing } from "../../domain/errors.ts";
import { roundToMicros } from "../../domain/money.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { collectList, listOf, pageQuery } from "../../http/paging.ts";
import { readCheck, tagVersion, toVersion } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { budgetPatchBody, budgetPreviewBody, newBudgetBody } from "./model.ts";
import { BudgetObject, BudgetPreview, toWireBudget } from "./responses.ts";
import { getBudget, prepareBudget, previewBudget, updateBudget } from "./service.ts";

export const budgetRoutes: readonly Route[] = [
  route({
    id: "listBudgets",
    method: "GET",
    path: "/api/budgets",
    tag: "Budgets",
    summary: "List budgets",
    access: "usage:read",
    query: { page: pageQuery },
    document: () => ({
      description: "Each with what it has counted in its period so far; newest first.",
      responses: { 200: jsonResponse("A page of budgets.", listOf(BudgetObject, "BudgetList")) },
    }),
    async handle({ services, principal, query }) {
      const nowMs = services.clock.nowMs();
      return collectList(
        { ...query.page, updatedSinceMs: null },
        (page) => services.store.spending.listBudgets(principal.account.id, page, nowMs),
        (budget) => toWireBudget(budget, nowMs),
      );
    },
  }),
  route({
    id: "createBudget",
    method: "POST",
    path: "/api/budgets",
    tag: "Budgets",
    summary: "Create a budget",
    access: "budgets:write",
    body: uncheckedBody(newBudgetBody),
    isIdempotent: true,
    document: () => ({
      description:
        "Spending counts from the period's start, also from before the budget was made. A call counts in every budget that " +
        "it meets. A budget that stops is refused (400) where what it would stop has no price on this server. At most " +
        `${maxBudgets} of an account.`,
      bodyExample: { metadata: { tenant: "acme" }, limit_micros: 50_000_000, period: "month", action: "stop" },
      responses: { 201: jsonResponse("The budget.", BudgetObject, "ETag") },
      errors: ["limit_reached"],
    }),
    async handle({ services, principal, set, createOnce }) {
      const text = await createOnce(async (body, { nowMs }) => {
        const { made, write } = await prepareBudget(services, principal.account.id, body, nowMs);
        return { response: toWireBudget(made, nowMs), write };
      });
      tagVersion(set, JSON.parse(text));
      return text;
    },
  }),
  route({
    id: "previewBudget",
    method: "POST",
    path: "/api/budgets/preview",
    tag: "Budgets",
    summary: "Read what a budget would count",
    access: "usage:read",
    body: uncheckedBody(budgetPreviewBody),
    document: () => ({
      description:
        "Before it is made, or changed: what it would have counted so far, and what a reply reserves. Makes nothing.",
      bodyExample: { metadata: { tenant: "acme" }, period: "month" },
      responses: { 200: jsonResponse("What is spent, and what a reply needs.", BudgetPreview) },
    }),
    async handle({ services, principal, readBody }) {
      const { spent, replyMicros } = await previewBudget(
        services,
        principal.account.id,
        await readBody(),
        services.clock.nowMs(),
      );
      return { spent_micros: roundToMicros(spent), reply_micros: replyMicros };
    },
  }),
  route({
    id: "getBudget",
    method: "GET",
    path: "/api/budgets/{id}",
    tag: "Budgets",
    summary: "Read a budget",
    access: "usage:read",
    document: () => ({
      description: "Its `ETag` is another one after each change, and not with what is spent.",
      responses: { 200: jsonResponse("The budget.", BudgetObject, "ETag") },
    }),
    async handle({ services, principal, set, params }) {
      const budget = await getBudget(services, principal.account.id, params.id);
      return tagVersion(set, toWireBudget(budget, services.clock.nowMs()));
    },
  }),
  route({
    id: "updateBudget",
    method: "PATCH",
    path: "/api/budgets/{id}",
    tag: "Budgets",
    summary: "Change a budget",
    access: "budgets:write",
    body: uncheckedBody(budgetPatchBody),
    document: () => ({
      description:
        "Only what is sent changes. With another subject or period it counts again, from its period's start.",
      headers: ["If-Match"],
      bodyExample: { limit_micros: 80_000_000 },
      responses: { 200: jsonResponse("The budget as it is now.", BudgetObject, "ETag") },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const { id } = principal.account;
      const current = await getBudget(services, id, params.id);
      const check = readCheck(request, toVersion);
      check?.(current);
      const context = writeContext();
      const updated = await updateBudget(services, id, current, { sent: await readBody(), check }, context);
      return tagVersion(set, toWireBudget(updated, context.nowMs));
    },
  }),
  route({
    id: "deleteBudget",
    method: "DELETE",
    path: "/api/budgets/{id}",
    tag: "Budgets",
    summary: "Delete a budget",
    access: "budgets:write",
    document: () => ({
      description: "What was spent stays in usage.",
      headers: ["If-Match"],
      responses: { 204: { description: "Deleted: it counts and stops nothing from now on." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const accountId = principal.account.id;
      const { id } = await getBudget(services, accountId, params.id);
      const check = readCheck(request, toVersion);
      const isDeleted = await services.store.spending.deleteBudget(accountId, id, writeContext(), check);
      if (!isDeleted) throw missing("budget");
    },
  }),
];
