/** `/api/companions/{id}/unanswered`: questions that knowledge had no answer to, and how they get one. */
import { missing, readId } from "../../domain/errors.ts";
import { maxSources } from "../../domain/knowledge.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { listOf, movingPageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { answerBody } from "./model.ts";
import { SourceObject, toWireQuestion, toWireSource, UnansweredObject } from "./responses.ts";
import { getCompanion, getQuestion, prepareAnswer } from "./service.ts";

const makeParams = () => ({ question_id: idParam("question") });
const tag = "Unanswered questions" as const;

export const unansweredRoutes: readonly Route[] = [
  route({
    id: "listUnanswered",
    method: "GET",
    path: "/api/companions/{id}/unanswered",
    tag,
    summary: "List unanswered questions",
    access: "knowledge:read",
    query: { page: movingPageQuery },
    document: () => ({
      description:
        "The question asked last first. Those that ask the same are one. They are visitors' words, and go with their erasure.",
      responses: { 200: jsonResponse("A page of questions.", listOf(UnansweredObject, "UnansweredList")) },
    }),
    async handle({ services, principal, params, query }) {
      const companionId = readId(params.id, "companion");
      const page = await services.store.unanswered.list(principal.account.id, companionId, query.page);
      if (page === null) throw missing("companion");
      return toWireList(page, toWireQuestion, ({ id, lastAskedAt }) => ({ id, updatedAt: lastAskedAt }));
    },
  }),
  route({
    id: "answerQuestion",
    method: "POST",
    path: "/api/companions/{id}/unanswered/{question_id}/answer",
    tag,
    summary: "Answer a question",
    access: "knowledge:write",
    body: jsonBody(answerBody),
    isIdempotent: true,
    status: 202,
    document: () => ({
      description:
        "Makes a text source of the answer, titled by the question, which leaves the list. Where the companion has " +
        `${maxSources} sources already, all such answers go into one more, "Answers", each under its question.`,
      params: makeParams(),
      headers: ["X-Change-Note"],
      responses: { 202: jsonResponse("The source, which is to be read.", SourceObject) },
    }),
    async handle({ services, request, principal, params, createOnce }) {
      const accountId = principal.account.id;
      const get = () => getQuestion(services, accountId, params.id, params.questionId);
      // A repeated call finds no question any more, and is answered as the first one was.
      if (request.headers.get("idempotency-key") === null) await get();
      else await getCompanion(services, accountId, params.id);
      return await createOnce(async ({ text }, { nowMs }) => {
        const { made, write } = await prepareAnswer(services, accountId, await get(), text, nowMs);
        return { response: toWireSource(made), write };
      });
    },
  }),
  route({
    id: "dismissQuestion",
    method: "DELETE",
    path: "/api/companions/{id}/unanswered/{question_id}",
    tag,
    summary: "Dismiss a question",
    access: "knowledge:write",
    document: () => ({
      description: "It is listed again when someone asks it again.",
      params: makeParams(),
      responses: { 204: { description: "Dismissed." } },
    }),
    async handle({ services, principal, params, writeContext }) {
      const companionId = readId(params.id, "companion");
      const id = readId(params.questionId, "question");
      const isKnown = await services.store.unanswered.dismiss(principal.account.id, companionId, id, writeContext());
      if (!isKnown) throw missing("question");
    },
  }),
];
