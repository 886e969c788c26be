/** `/api/companions/{id}/sources`: what a companion reads, and what is found there. */
import { missing, readId } from "../../domain/errors.ts";
import { maxSources, passagesPerTurn } from "../../domain/knowledge.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { readCheck, tagVersion, toVersion } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { accountLists } from "./account-lists.ts";
import { searchBody } from "./model.ts";
import { passageRoute } from "./passage-route.ts";
import { KnowledgeFound, SourceObject, toWireFound, toWireSource } from "./responses.ts";
import { sourceBody } from "./sent-source.ts";
import { getCompanion, getSource, noteQueued, prepareSource, refreshSource, replaceSource } from "./service.ts";
import { textRoute } from "./text-route.ts";
import { unansweredRoutes } from "./unanswered-routes.ts";

const tag = "Knowledge" as const;

export const knowledgeRoutes: readonly Route[] = [
  route({
    id: "listSources",
    method: "GET",
    path: "/api/companions/{id}/sources",
    tag,
    summary: "List sources",
    access: "knowledge:read",
    query: { page: pageQuery },
    document: () => ({
      responses: { 200: jsonResponse("A page of sources.", listOf(SourceObject, "SourceList")) },
    }),
    async handle({ services, principal, params, query }) {
      const companionId = readId(params.id, "companion");
      const page = await services.store.knowledge.list(principal.account.id, companionId, query.page);
      if (page === null) throw missing("companion");
      noteQueued(services, page.items);
      return toWireList(page, toWireSource);
    },
  }),
  route({
    id: "createSource",
    method: "POST",
    path: "/api/companions/{id}/sources",
    tag,
    summary: "Add a source",
    access: "knowledge:write",
    body: sourceBody,
    isIdempotent: true,
    status: 202,
    document: () => ({
      description:
        "A text, the address of a page or of a sitemap, or a file. It is read in the background: ask for its `status`. " +
        `At most ${maxSources} of a companion; one more is \`conflict\`.`,
      headers: ["X-Change-Note"],
      responses: { 202: jsonResponse("The source, which is to be read.", SourceObject, "ETag") },
      errors: ["rate_limited"],
    }),
    async handle({ services, principal, set, params, createOnce }) {
      const accountId = principal.account.id;
      const { id } = await getCompanion(services, accountId, params.id);
      const text = await createOnce(async (body, { nowMs }) => {
        const { made, write } = await prepareSource(services, accountId, id, body, nowMs);
        return { response: toWireSource(made), write };
      });
      tagVersion(set, JSON.parse(text));
      return text;
    },
  }),
  route({
    id: "getSource",
    method: "GET",
    path: "/api/companions/{id}/sources/{source_id}",
    tag,
    summary: "Read a source's state",
    access: "knowledge:read",
    document: () => ({
      description: "Its `ETag` is another one after each change of what was sent, and not as it is read.",
      responses: { 200: jsonResponse("The source.", SourceObject, "ETag") },
    }),
    async handle({ services, principal, set, params }) {
      const source = await getSource(services, principal.account.id, params.id, params.sourceId);
      noteQueued(services, [source]);
      return tagVersion(set, toWireSource(source));
    },
  }),
  route({
    id: "replaceSource",
    method: "PUT",
    path: "/api/companions/{id}/sources/{source_id}",
    tag,
    summary: "Replace a source's content",
    access: "knowledge:write",
    body: sourceBody,
    status: 202,
    document: () => ({
      description:
        "What was read before answers until the new content is read, and stays if that fails. Of several, the last one " +
        "counts; with `If-Match`, the first one of those who know the same version. A source keeps its type.",
      headers: ["If-Match", "X-Change-Note"],
      responses: { 202: jsonResponse("The source, which is to be read again.", SourceObject, "ETag") },
      errors: ["rate_limited", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const { id } = principal.account;
      const current = await getSource(services, id, params.id, params.sourceId);
      const check = readCheck(request, toVersion);
      check?.(current);
      const change = { sent: await readBody(), check };
      return tagVersion(set, toWireSource(await replaceSource(services, id, current, change, writeContext())));
    },
  }),
  route({
    id: "deleteSource",
    method: "DELETE",
    path: "/api/companions/{id}/sources/{source_id}",
    tag,
    summary: "Delete a source",
    access: "knowledge:write",
    document: () => ({
      headers: ["If-Match", "X-Change-Note"],
      responses: { 204: { description: "Deleted: nothing of it answers from now on." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const accountId = principal.account.id;
      const { companionId, id } = await getSource(services, accountId, params.id, params.sourceId);
      const check = readCheck(request, toVersion);
      const isDeleted = await services.store.knowledge.delete(accountId, companionId, id, writeContext(), check);
      if (!isDeleted) throw missing("source");
    },
  }),
  route({
    id: "refreshSource",
    method: "POST",
    path: "/api/companions/{id}/sources/{source_id}/refresh",
    tag,
    summary: "Read a URL or sitemap again",
    access: "knowledge:write",
    status: 202,
    document: () => ({
      description: "Pages that have not changed cost nothing. Texts and files are refused: send them again.",
      responses: { 202: jsonResponse("The source, which is to be read again.", SourceObject) },
    }),
    async handle({ services, principal, params, writeContext }) {
      const { id } = principal.account;
      const current = await getSource(services, id, params.id, params.sourceId);
      return toWireSource(await refreshSource(services, id, current, writeContext()));
    },
  }),
  passageRoute,
  textRoute,
  route({
    id: "searchKnowledge",
    method: "POST",
    path: "/api/companions/{id}/knowledge/search",
    tag,
    summary: "Try what is found",
    access: "knowledge:read",
    body: jsonBody(searchBody),
    document: () => ({
      description: "As a chat searches, with scores. Nothing is listed as unanswered.",
      bodyExample: { query: "How long do I have to return something?" },
      responses: { 200: jsonResponse("What was found.", KnowledgeFound) },
    }),
    async handle({ services, principal, params, readBody }) {
      const companion = await getCompanion(services, principal.account.id, params.id);
      const { query, limit = passagesPerTurn } = await readBody();
      const { passages, isWhole } = await services.knowledge.search(companion, query, limit);
      return { data: passages.map(toWireFound), whole: isWhole };
    },
  }),
  ...unansweredRoutes,
  ...accountLists,
];
