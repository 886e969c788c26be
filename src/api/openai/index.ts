/** `/v1`: companions as models, for clients that speak OpenAI's chat completions. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { holdPrompt } from "../../core/turns/prompt-memory.ts";
import { Turn } from "../../core/turns/turn.ts";
import { noCaller } from "../../core/turns/turn-start.ts";
import { UnkeptTurns } from "../../core/turns/unkept-turns.ts";
import { runWhole } from "../../core/turns/whole-reply.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { textOf } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { rightOfKey } from "../../http/caller-right.ts";
import { requireJsonContentType, uncheckedBody } from "../../http/json-body.ts";
import { type QueryReader, valueQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { respondWithTurn, whileSilent } from "../../http/stream-response.ts";
import { admitVisitor } from "../../http/visitor-window.ts";
import { toUuid } from "../../lib/ids.ts";
import { toWireCompletion } from "./completion.ts";
import { CompletionStream, toCompletionError } from "./completion-stream.ts";
import { readCompletion } from "./model.ts";
import { CompletionEvent, CompletionObject, completionBody, ModelList, ModelObject } from "./schemas.ts";

const defaultLimit = 100;
const maxLimit = 1000;

function noModel(): AppError {
  const detail = "There is no companion of this account with this id, or it is switched off: see GET /v1/models.";
  return new AppError("not_found", detail, { errors: [{ param: "model", detail }] });
}

/** Throws `not_found`, as OpenAI's clients know it of models. */
async function getModel({ store }: Services, { account }: Principal, id: string): Promise<Companion> {
  const known = toUuid(id);
  const companion = known === undefined ? null : await store.companions.find(account.id, known);
  if (companion?.enabled !== true) throw noModel();
  return companion;
}

function toWireModel({ id, name, createdAt }: Companion) {
  return { id, object: "model", created: Math.floor(createdAt / 1000), owned_by: "companiond", name };
}

export const openAiRoutes: readonly Route[] = [
  route({
    id: "createChatCompletion",
    method: "POST",
    path: "/v1/chat/completions",
    tag: "OpenAI",
    summary: "Complete a chat as a companion",
    access: "chat:write",
    body: uncheckedBody(completionBody),
    document: () => ({
      description:
        "What OpenAI's clients call: set their base URL to this server's `/v1`. The messages go to the model as they are, " +
        "behind the companion's own instructions. None of them is kept; the message counts in the companion's quotas, " +
        "and in usage under the calling key. Streamed chunks are `chat.completion.chunk` objects, then `data: [DONE]`; " +
        'a reply that breaks off ends with `data: {"error":…}` instead.',
      bodyExample: {
        model: "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10",
        messages: [{ role: "user", content: "What are your opening hours?" }],
        user: "user-42",
      },
      responses: {
        200: {
          description: "The completion, or with `stream` its chunks as Server-Sent Events.",
          content: { "application/json": CompletionObject, "text/event-stream": CompletionEvent },
        },
      },
      errors: ["not_found", "quota_exceeded", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, principal, request, set, readBody }) {
      const { clock, ids, store, heartbeats } = services;
      // Even without a body.
      requireJsonContentType(request);
      const { model, user, isStreamed, includesUsage, prompt } = readCompletion(await readBody());
      const companion = await getModel(services, principal, model);
      await admitVisitor(services, companion.id, "user", user, set.headers);
      const context = contextOf(request, ids);
      const { requestId } = context;
      const head = {
        id: `chatcmpl-${requestId}`,
        created: Math.floor(clock.nowMs() / 1000),
        model: companion.id,
      };
      const storage = new UnkeptTurns(store, companion);
      const asked = prompt.messages.findLast(({ role }) => role === "user");
      const held = holdPrompt(services.promptMemory, principal.account.id, prompt);
      const turn = new Turn(services, {
        companion: instructFor(companion, null),
        plan: principal.account.plan,
        keyId: principal.keyId,
        message: asked === undefined ? "" : textOf(asked),
        given: prompt,
        requestId,
        address: null,
        right: rightOfKey(services, principal, companion.id),
        storage,
        named: null,
        visitor: null,
        caller: noCaller,
      });
      // Even if it never begins.
      const hold = <Outcome>(running: Promise<Outcome>) =>
        running.finally(() => void turn.ended.then(() => held.release()));
      if (isStreamed) {
        const options = { head, includesUsage, getResult: () => storage.result };
        return await hold(
          respondWithTurn(turn, new CompletionStream(request.signal, heartbeats, options), set, context),
        );
      }
      const end = await whileSilent(context, hold(runWhole(turn, request.signal)));
      const { result } = storage;
      if (end.outcome === "complete" && result !== null) return toWireCompletion(head, result);
      throw toCompletionError(end.outcome === "broken" ? end.code : "unavailable");
    },
  }),
  route({
    id: "listModels",
    method: "GET",
    path: "/v1/models",
    tag: "OpenAI",
    summary: "List companions as models",
    access: "chat:write",
    query: {
      limit: {
        parameters: {
          limit: () =>
            t.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: "Companions on a page." }),
        },
        read: (query: QueryReader) => query.count("limit", maxLimit),
      },
      afterId: valueQuery(
        "after",
        () => t.String({ description: "`last_id` of the page before." }),
        toUuid,
        "Must be the id of a model.",
      ),
    },
    document: () => ({
      description: "Newest first, without those that are switched off.",
      responses: { 200: jsonResponse("A page of models.", ModelList) },
    }),
    async handle({ services, principal, query: { limit, afterId } }) {
      const page = { limit: limit ?? defaultLimit, afterId };
      const filters = { metadata: [], q: null, isEnabled: true };
      const { items, nextAfterId } = await services.store.companions.list(principal.account.id, filters, page);
      const data = items.map(toWireModel);
      return {
        object: "list",
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: nextAfterId !== null,
      };
    },
  }),
  route({
    id: "getModel",
    method: "GET",
    path: "/v1/models/{id}",
    tag: "OpenAI",
    summary: "Read a companion as a model",
    access: "chat:write",
    document: () => ({
      params: { id: idParam("companion") },
      responses: { 200: jsonResponse("The model.", ModelObject) },
    }),
    handle: async ({ services, principal, params }) => toWireModel(await getModel(services, principal, params.id)),
  }),
];
