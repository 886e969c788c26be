/** `/api/keys`: the account's API keys. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { makeApiKey } from "../../domain/credentials.ts";
import { createIdempotency } from "../../http/idempotency.ts";
import { respondEmpty, respondJson } from "../../http/json-response.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import { writeContext } from "../../http/write-context.ts";
import { toWireKey } from "./model.ts";
import { createKey, revokeKey } from "./service.ts";

export function keysModule(services: Services) {
  const { respondOnce } = createIdempotency(services);

  return (app: Elysia) =>
    app
      .get("/api/keys", async ({ request, set }) => {
        const principal = await openPrincipal(services, request, "keys:read", set.headers);
        const query = openQuery(request, pageParameters);
        const page = readPage(query);
        query.finish();
        const keys = await services.store.apiKeys.list(principal.account.id);
        return respondJson(set, toWireList(cutPage(keys, page), toWireKey));
      })
      .post(
        "/api/keys",
        async ({ request, set }) => {
          const principal = await openPrincipal(services, request, "keys:write", set.headers);
          refuseQuery(request);
          const key = makeApiKey(services.ids.secret);
          return await respondOnce({
            request,
            principal,
            set,
            make: (body, context) => createKey(services, principal, body, key, context),
            toReplay: toWireKey,
            toFirst: (made) => ({ ...toWireKey(made), key }),
          });
        },
        { parse: "none" },
      )
      .delete(
        "/api/keys/:id",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "keys:write", set.headers);
          refuseQuery(request);
          await revokeKey(services, principal, params.id, writeContext(services, request, principal));
          return respondEmpty(set);
        },
        { parse: "none" },
      );
}
