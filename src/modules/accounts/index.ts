/** `/api/accounts`: operators add, change, suspend and delete accounts. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { AppError } from "../../domain/errors.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { createIdempotency } from "../../http/idempotency.ts";
import { jsonBody, managementBodyLimitBytes, parseJson, readJsonText } from "../../http/json-body.ts";
import { respondEmpty, respondJson } from "../../http/json-response.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import { openOperator } from "../../http/session-guard.ts";
import { writeContext } from "../../http/write-context.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { omitFields } from "../../lib/omit-fields.ts";
import { accountPatchBody, newAccountBody, newGrantBody, readOnlyFields, toWireAccount, toWireGrant } from "./model.ts";
import {
  deleteAccount,
  getAccount,
  listGrants,
  makeResetLink,
  prepareAccount,
  prepareGrant,
  revokeGrant,
  updateAccount,
} from "./service.ts";

export function accountsModule(services: Services) {
  const { createOnce } = createIdempotency(services);

  return (app: Elysia) =>
    app
      .get("/api/accounts", async ({ request, set }) => {
        await openOperator(services, request, set.headers);
        const query = openQuery(request, ["q", ...pageParameters]);
        const page = readPage(query);
        const q = query.text("q")?.toLowerCase() ?? "";
        query.finish();
        const found = (await services.store.accounts.list()).filter(({ email, id }) => email.includes(q) || id === q);
        return respondJson(set, toWireList(cutPage(found.toReversed(), page), toWireAccount));
      })
      .post(
        "/api/accounts",
        async ({ request, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          const call = { request, principal, set, body: jsonBody(newAccountBody) };
          return await createOnce(call, (body, { nowMs }) => {
            const { made, write } = prepareAccount(services, body, nowMs);
            return { response: toWireAccount(made), write };
          });
        },
        { parse: "none" },
      )
      .get("/api/accounts/:id", async ({ request, params, set }) => {
        await openOperator(services, request, set.headers);
        refuseQuery(request);
        return respondJson(set, toWireAccount(await getAccount(services, params.id)));
      })
      .patch(
        "/api/accounts/:id",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          const account = await getAccount(services, params.id);
          const sent = parseJson(await readJsonText(request, managementBodyLimitBytes));
          const patch = accountPatchBody.check(omitFields(sent, readOnlyFields));
          const context = writeContext(services, request, principal);
          return respondJson(set, toWireAccount(await updateAccount(services, principal, account, patch, context)));
        },
        { parse: "none" },
      )
      .delete(
        "/api/accounts/:id",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          await deleteAccount(services, principal, params.id, writeContext(services, request, principal));
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/accounts/:id/reset-link",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          const baseUrl = knownBaseUrlOf(services.settings, request);
          if (baseUrl === null) throw placeUnknown();
          const context = writeContext(services, request, principal);
          const { path, expiresAt } = await makeResetLink(services, params.id, context);
          return respondJson(set, { url: baseUrl + path, expires_at: toRfc3339(expiresAt) }, 201);
        },
        { parse: "none" },
      )
      .get("/api/accounts/:id/voice-agents", async ({ request, params, set }) => {
        await openOperator(services, request, set.headers);
        refuseQuery(request);
        const items = await listGrants(services, params.id);
        return respondJson(set, toWireList({ items, nextAfterId: null }, toWireGrant));
      })
      .post(
        "/api/accounts/:id/voice-agents",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          const { id } = await getAccount(services, params.id);
          const call = { request, principal, set, body: jsonBody(newGrantBody) };
          return await createOnce(call, async ({ agent_id: agentId }, { nowMs }) => {
            const { made, write } = await prepareGrant(services, id, agentId, nowMs);
            return { response: toWireGrant(made), write };
          });
        },
        { parse: "none" },
      )
      .delete(
        "/api/accounts/:id/voice-agents/:agent",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          await revokeGrant(services, params.id, params.agent, writeContext(services, request, principal));
          return respondEmpty(set);
        },
        { parse: "none" },
      );
}

/** Whoever gets the link signs in by it: it may not lead to a host that somebody on the way named. */
function placeUnknown(): AppError {
  return new AppError(
    "conflict",
    "The server does not know its own address, which the link needs: set COMPANIOND_PUBLIC_URL and restart it, or make " +
      "the link with companiond account reset-link on its machine.",
  );
}
