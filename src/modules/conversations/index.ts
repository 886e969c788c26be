/** `/api/conversations`: what visitors and companions said, and its erasure. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { respondEmpty, respondJson } from "../../http/json-response.ts";
import { pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { openQuery, type QueryReader, refuseQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { rangeParameters, readRange } from "../../http/time-range.ts";
import { writeContext } from "../../http/write-context.ts";
import { toUuid } from "../../lib/ids.ts";
import type { ConversationQuery } from "../../store/store.ts";
import { messagePageParameters, readMessagePage, toWireConversationPage } from "./message-paging.ts";
import { toWireConversation } from "./model.ts";

const filterParameters = ["visitor_id", "q", ...rangeParameters, ...pageParameters];

/** A visitor may have said very much, and the answer tells that nothing of it is left. */
const erasureSilenceSeconds = 120;

/** More is no search but a load. */
const maxSearchLength = 200;

export function conversationsModule(services: Services) {
  const { companions, conversations } = services.store;

  return (app: Elysia) =>
    app
      .get("/api/conversations", async ({ request, set }) => {
        const { account } = await openPrincipal(services, request, "conversations:read", set.headers);
        const query = openQuery(request, ["companion_id", ...filterParameters]);
        const companionId = query.value("companion_id", toUuid, "Must be a UUID.");
        const page = readPage(query);
        const filter = readFilter(query, companionId);
        query.finish();
        return respondJson(set, toWireList(await conversations.list(account.id, filter, page), toWireConversation));
      })
      .get("/api/companions/:id/conversations", async ({ request, params, set }) => {
        const { account } = await openPrincipal(services, request, "conversations:read", set.headers);
        const companion = await companions.find(account.id, readId(params.id, "companion"));
        if (companion === null) throw missing("companion");
        const query = openQuery(request, filterParameters);
        const page = readPage(query);
        const filter = readFilter(query, companion.id);
        query.finish();
        return respondJson(set, toWireList(await conversations.list(account.id, filter, page), toWireConversation));
      })
      .get("/api/conversations/:id", async ({ request, params, set }) => {
        const { account } = await openPrincipal(services, request, "conversations:read", set.headers);
        const query = openQuery(request, messagePageParameters);
        const page = readMessagePage(query);
        query.finish();
        const found = await conversations.find(account.id, readId(params.id, "conversation"), page);
        if (found === null) throw missing("conversation");
        return respondJson(set, toWireConversationPage(found));
      })
      .delete(
        "/api/conversations/:id",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "conversations:write", set.headers);
          refuseQuery(request);
          const id = readId(params.id, "conversation");
          const context = writeContext(services, request, principal);
          const isDeleted = await conversations.delete(principal.account.id, id, context);
          if (!isDeleted) throw missing("conversation");
          return respondEmpty(set);
        },
        { parse: "none" },
      )
      .delete(
        "/api/companions/:id/visitors/:visitorId",
        async ({ request, params, set }) => {
          const principal = await openPrincipal(services, request, "conversations:write", set.headers);
          refuseQuery(request);
          const companionId = readId(params.id, "companion");
          const visitorId = readId(params.visitorId, "visitor");
          contextOf(request, services.ids).allowSilence(erasureSilenceSeconds);
          const context = writeContext(services, request, principal);
          if (!(await conversations.eraseVisitor(principal.account.id, companionId, visitorId, context))) {
            throw missing("companion");
          }
          return respondEmpty(set);
        },
        { parse: "none" },
      );
}

function readFilter(query: QueryReader, companionId: string | null): ConversationQuery {
  return {
    companionId,
    visitorId: query.value("visitor_id", toUuid, "Must be a UUID."),
    ...readRange(query),
    q: query.value("q", toSearch, `Must be at most ${maxSearchLength} characters.`) || null,
  };
}

function toSearch(text: string): string | undefined {
  return text.length <= maxSearchLength ? text : undefined;
}
