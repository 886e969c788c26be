/** `/api/companions/{id}/sources`: what a companion reads, and what is found there. */
import { maxSources, passagesPerTurn } from "../../domain/knowledge.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { listOf } from "../../schemas/list.ts";
import { searchBody, toWireFound, toWireSource } from "./model.ts";
import { passageRoute } from "./passage-route.ts";
import { KnowledgeFound, SourceObject } from "./responses.ts";
import { sourceBody } from "./sent-source.ts";
import { getCompanion, getSource, noteQueued, prepareSource, refreshSource, replaceSource } from "./service.ts";
import { textRoute } from "./text-route.ts";
import { unansweredRoutes } from "./unanswered-routes.ts";

const makeParams = () => ({ id: idParam("companion"), source_id: idParam("source") });
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
      params: { id: idParam("companion") },
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
      params: { id: idParam("companion") },
      responses: { 202: jsonResponse("The source, which is to be read.", SourceObject) },
      errors: ["rate_limited"],
    }),
    async handle({ services, principal, params, createOnce }) {
      const accountId = principal.account.id;
      const { id } = await getCompanion(services, accountId, params.id);
      return await createOnce(async (body, { nowMs }) => {
        const { made, write } = await prepareSource(services, accountId, id, body, nowMs);
        return { response: toWireSource(made), write };
      });
    },
  }),
  route({
    id: "getSource",
    method: "GET",
    path: "/api/companions/{id}/sources/{source_id}",
    tag,
    summary: "Read a source's state",
    access: "knowledge:read",
    document: () => ({ params: makeParams(), responses: { 200: jsonResponse("The source.", SourceObject) } }),
    async handle({ services, principal, params }) {
      const source = await getSource(services, principal.account.id, params.id, params.sourceId);
      noteQueued(services, [source]);
      return toWireSource(source);
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
        "counts. A source keeps its type.",
      params: makeParams(),
      responses: { 202: jsonResponse("The source, which is to be read anew.", SourceObject) },
      errors: ["rate_limited"],
    }),
    async handle({ services, principal, params, readBody, writeContext }) {
      const { id } = principal.account;
      const current = await getSource(services, id, params.id, params.sourceId);
      return toWireSource(await replaceSource(services, id, current, await readBody(), writeContext()));
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
      params: makeParams(),
      responses: { 204: { description: "Deleted: nothing of it answers from now on." } },
    }),
    async handle({ services, principal, params, writeContext }) {
      const companionId = readId(params.id, "companion");
      const id = readId(params.sourceId, "source");
      const isDeleted = await services.store.knowledge.delete(principal.account.id, companionId, id, writeContext());
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
      description: "Pages that have not changed cost nothing. Texts and files are refused: send them anew.",
      params: makeParams(),
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
      params: { id: idParam("companion") },
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
];
