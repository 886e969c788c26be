/** `/api/spending-stops`: operators stop what their providers are asked, for one account or for all. */
import { Type as t } from "@sinclair/typebox";
import { missing, readId } from "../../domain/errors.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { type Route, route } from "../../http/route.ts";
import { compileChecker, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { SpendingStopList, SpendingStopObject, toWireStop } from "./responses.ts";

const newStopBody = compileChecker(() =>
  t.Object(
    {
      account_id: Nullish(
        Text({
          pattern: uuidPattern,
          problem: "Must be the id of an account, or null for all accounts.",
          description: "Whose calls stop. Left out or null: those of all accounts.",
        }),
      ),
    },
    { $id: "NewSpendingStop", additionalProperties: false, description: "May be left out altogether." },
  ),
);

export const spendingStopRoutes: readonly Route[] = [
  route({
    id: "listSpendingStops",
    method: "GET",
    path: "/api/spending-stops",
    tag: "Accounts",
    summary: "List whose calls to providers are stopped",
    access: "operator",
    document: () => ({ responses: { 200: jsonResponse("All stops, that of all accounts first.", SpendingStopList) } }),
    handle: async ({ services }) => ({ data: (await services.store.spending.listStops()).map(toWireStop) }),
  }),
  route({
    id: "createSpendingStop",
    method: "POST",
    path: "/api/spending-stops",
    tag: "Accounts",
    summary: "Stop calls to providers, of one account or of all",
    access: "operator",
    body: jsonBody(newStopBody, { isOptional: true }),
    status: 201,
    document: () => ({
      description:
        "From now on no call begins, at any server of this database: messages and voice sessions are refused with 503 " +
        "`unavailable` and take nothing from quotas. Replies under way go on. What is stopped already stays so.",
      bodyExample: { account_id: null },
      responses: { 201: jsonResponse("The stop.", SpendingStopObject) },
      errors: ["not_found"],
    }),
    async handle({ services, readBody, writeContext }) {
      const accountId = (await readBody()).account_id?.toLowerCase() ?? null;
      const { spending } = services.store;
      const context = writeContext();
      if (!(await spending.stop(accountId, context))) throw missing("account");
      services.log.warn("spending stopped", { accountId });
      const stop = (await spending.listStops()).find((one) => one.accountId === accountId);
      return toWireStop(stop ?? { accountId, stoppedAt: context.nowMs });
    },
  }),
  route({
    id: "deleteSpendingStop",
    method: "DELETE",
    path: "/api/spending-stops/{account_id}",
    tag: "Accounts",
    summary: "Let calls to providers begin again",
    access: "operator",
    document: () => ({
      description: "`all` instead of an id ends the server-wide stop; stops of single accounts stay.",
      params: { account_id: idParam("account") },
      responses: { 204: { description: "Ended." } },
    }),
    async handle({ services, params, writeContext }) {
      const accountId = params.accountId === "all" ? null : readId(params.accountId, "stop");
      if (!(await services.store.spending.start(accountId, writeContext()))) throw missing("stop");
      services.log.warn("spending started again", { accountId });
    },
  }),
];
