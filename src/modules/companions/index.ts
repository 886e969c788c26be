/** `/api/companions`: companions, their embed tokens, and the owner's trial chat. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { createIdempotency, readSlot } from "../../http/idempotency.ts";
import { managementBodyLimitBytes, parseJson, readJson, readJsonText } from "../../http/json-body.ts";
import { respondEmpty, respondJson } from "../../http/json-response.ts";
import { cutPage, pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { openQuery, refuseQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import { writeContext } from "../../http/write-context.ts";
import { Turn } from "../../turns/turn.ts";
import { testChatBody, toWireCompanion, toWireEmbedToken } from "./model.ts";
import {
  createCompanion,
  createEmbedToken,
  deleteCompanion,
  getCompanion,
  listEmbedTokens,
  revokeEmbedToken,
  updateCompanion,
} from "./service.ts";
import { rightToTry, TrialKeeper } from "./test-chat.ts";

export function companionsModule(services: Services) {
  const { respondOnce } = createIdempotency(services);

  return (app: Elysia) =>
    app
      .post(
        "/api/companions",
        async ({ request, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          return await respondOnce({
            request,
            principal,
            set,
            make: (body, context) => createCompanion(services, principal, body, context),
            toReplay: toWireCompanion,
          });
        },
        { parse: "none" },
      )
      .get("/api/companions", async ({ request, set }) => {
        const principal = await openPrincipal(services, request, "companions:read", set.headers);
        const query = openQuery(request, ["q", ...pageParameters], true);
        const page = readPage(query);
        const q = query.text("q");
        query.finish();
        const filters = { metadata: query.metadata, q: q === "" ? null : q };
        const companions = await services.store.companions.list(principal.account.id, filters, page);
        return respondJson(set, toWireList(companions, toWireCompanion));
      })
      .get("/api/companions/:id", async ({ request, params, set }) => {
        const principal = await openPrincipal(services, request, "companions:read", set.headers);
        refuseQuery(request);
        return respondJson(set, toWireCompanion(await getCompanion(services, principal, params.id)));
      })
      .patch(
        "/api/companions/:id",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          const current = await getCompanion(services, principal, params.id);
          const body = parseJson(await readJsonText(request, managementBodyLimitBytes));
          const context = writeContext(services, request, principal);
          return respondJson(set, toWireCompanion(await updateCompanion(services, principal, current, body, context)));
        },
        { parse: "none" },
      )
      .delete(
        "/api/companions/:id",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          await deleteCompanion(services, principal, params.id, writeContext(services, request, principal));
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .get("/api/companions/:id/embed-tokens", async ({ request, params, set }) => {
        const principal = await openPrincipal(services, request, "companions:read", set.headers);
        const query = openQuery(request, pageParameters);
        const page = readPage(query);
        query.finish();
        const tokens = await listEmbedTokens(services, principal, params.id);
        return respondJson(set, toWireList(cutPage(tokens, page), toWireEmbedToken));
      })
      .post(
        "/api/companions/:id/embed-tokens",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          const companion = await getCompanion(services, principal, params.id);
          return await respondOnce({
            request,
            principal,
            set,
            make: (body, context) => createEmbedToken(services, companion, body, context),
            toReplay: toWireEmbedToken,
          });
        },
        { parse: "none" },
      )
      .delete(
        "/api/companions/:id/embed-tokens/:tokenId",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          const context = writeContext(services, request, principal);
          await revokeEmbedToken(services, principal, params.id, params.tokenId, context);
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .post(
        "/api/companions/:id/test-chat",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "companions:write", set.headers);
          refuseQuery(request);
          // Checked as everywhere, but a stream is never replayed.
          readSlot(request, principal);
          const companion = await getCompanion(services, principal, params.id);
          const body = await readJson(request, testChatBody, managementBodyLimitBytes);
          const facts = contextOf(request, services.ids);
          const stream = new EventStream(request.signal, services.heartbeats);
          const turn = new Turn(services, {
            companion,
            plan: principal.account.plan,
            message: body.message,
            requestId: facts.requestId,
            address: null,
            right: rightToTry(services.store.companions, companion),
            keeper: new TrialKeeper(services.store, companion, body, (text) => stream.comment(text)),
          });
          return respondWithTurn(turn, stream, set, facts);
        },
        { parse: "none" },
      );
}
