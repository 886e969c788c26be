/** `/api/unanswered` and `/api/sources`: questions without an answer, and sources, of all companions of the account. */
import { sourceStatuses } from "../../domain/knowledge.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { listOf, movingPageQuery, pageQuery, toWireList } from "../../http/paging.ts";
import { valueQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { OneOf } from "../../http/schemas/schema.ts";
import { AccountQuestionObject, AccountSourceObject, toWireQuestion, toWireSource } from "./responses.ts";
import { noteQueued } from "./service.ts";

export const accountLists: readonly Route[] = [
  route({
    id: "listAccountUnanswered",
    method: "GET",
    path: "/api/unanswered",
    tag: "Unanswered questions",
    summary: "List unanswered questions of all companions",
    access: "knowledge:read",
    query: { page: movingPageQuery },
    document: () => ({
      description: "As the list of one companion, with `companion_id`. They are answered and dismissed there.",
      responses: { 200: jsonResponse("A page of questions.", listOf(AccountQuestionObject, "AccountQuestionList")) },
    }),
    async handle({ services, principal, query }) {
      const page = await services.store.unanswered.listOfAccount(principal.account.id, query.page);
      return toWireList(
        page,
        (question) => ({ companion_id: question.companionId, ...toWireQuestion(question) }),
        ({ id, lastAskedAt }) => ({ id, updatedAt: lastAskedAt }),
      );
    },
  }),
  route({
    id: "listAccountSources",
    method: "GET",
    path: "/api/sources",
    tag: "Knowledge",
    summary: "List sources of all companions",
    access: "knowledge:read",
    query: {
      status: valueQuery(
        "status",
        () => OneOf(sourceStatuses, { description: "Only those in this state." }),
        (text) => sourceStatuses.find((status) => status === text),
        `Must be one of: ${sourceStatuses.join(", ")}.`,
      ),
      page: pageQuery,
    },
    document: () => ({
      description: "As the list of one companion, with `companion_id`: `status=failed` is what could not be read.",
      responses: { 200: jsonResponse("A page of sources.", listOf(AccountSourceObject, "AccountSourceList")) },
    }),
    async handle({ services, principal, query: { status, page } }) {
      const found = await services.store.knowledge.listOfAccount(principal.account.id, status, page);
      noteQueued(services, found.items);
      return toWireList(found, (source) => ({ companion_id: source.companionId, ...toWireSource(source) }));
    },
  }),
];
