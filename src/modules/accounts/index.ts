/** `/api/accounts`: operators add, change, suspend and delete accounts. */
import type { Elysia } from "elysia";
import { baseUrlOf } from "../../http/base-url.ts";
import { createIdempotency } from "../../http/idempotency.ts";
import { answerJson, answerNothing } from "../../http/json-answer.ts";
import { managementBodyLimitBytes, parseJson, readJsonText } from "../../http/json-body.ts";
import { omitFields } from "../../http/omit-fields.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import type { Services } from "../../http/services.ts";
import { openOperator } from "../../http/session-guard.ts";
import { writeContext } from "../../http/write-context.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { accountPatchBody, newAccountBody, readOnlyFields, toWireAccount } from "./model.ts";
import { createAccount, deleteAccount, getAccount, makeResetLink, updateAccount } from "./service.ts";

export function accountsModule(services: Services) {
  const { answerOnce } = createIdempotency(services);

  return (app: Elysia) =>
    app
      .get("/api/accounts", async ({ request, set }) => {
        await openOperator(services, request, set.headers);
        const query = openQuery(request, ["q", ...pageParameters]);
        const page = readPage(query);
        const q = query.text("q")?.toLowerCase() ?? "";
        query.finish();
        const found = (await services.store.accounts.list()).filter(({ email, id }) => email.includes(q) || id === q);
        return answerJson(set, toWireList(cutPage(found.toReversed(), page), toWireAccount));
      })
      .post(
        "/api/accounts",
        async ({ request, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          return await answerOnce({
            request,
            principal,
            set,
            make: (body, context) => createAccount(services, newAccountBody.check(body), context),
            toReplay: toWireAccount,
          });
        },
        { parse: "none" },
      )
      .get("/api/accounts/:id", async ({ request, params, set }) => {
        await openOperator(services, request, set.headers);
        refuseQuery(request);
        return answerJson(set, toWireAccount(await getAccount(services, params.id)));
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
          return answerJson(set, toWireAccount(await updateAccount(services, principal, account, patch, context)));
        },
        { parse: "none" },
      )
      .delete(
        "/api/accounts/:id",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          await deleteAccount(services, principal, params.id, writeContext(services, request, principal));
          return answerNothing(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/accounts/:id/reset-link",
        async ({ request, params, set }) => {
          const principal = await openOperator(services, request, set.headers);
          refuseQuery(request);
          const context = writeContext(services, request, principal);
          const { path, expiresAt } = await makeResetLink(services, params.id, context);
          const url = baseUrlOf(services.settings, request) + path;
          return answerJson(set, { url, expires_at: toRfc3339(expiresAt) }, 201);
        },
        { parse: "none" },
      );
}
