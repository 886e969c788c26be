/** `/api/conversations/{id}/…`: what people of the team do with a conversation: they take it, write, and give it back. */
import { type ApiResponse, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { respondJsonText } from "../../http/json-response.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { openConversation, toTeamContext } from "./team-conversation.ts";
import { personMessageBody, readBody, releaseBody, takeBody, teamTypingBody } from "./team-model.ts";
import { ReservedObject, SentObject, TakenObject, toWireState } from "./team-responses.ts";

const done = (description: string): Record<number, ApiResponse> => ({ 204: { description } });

/** A taker waits until the reply that they stop is kept. */
const takeSilenceSeconds = 25;

const conflictSentence = "Otherwise 409 `conflict`, with `state` and `person` in the problem.";

export const teamRoutes: readonly Route[] = [
  route({
    id: "takeConversation",
    method: "POST",
    path: "/api/conversations/{id}/take",
    tag: "People",
    summary: "Take a conversation",
    access: "conversations:reply",
    body: jsonBody(takeBody, { isOptional: true }),
    document: () => ({
      description:
        "From then on the companion is silent, and the person answers. In mode `asked` once a person was asked for or a contact was " +
        `left. For the person who has it already it changes nothing; a colleague's takes their id in \`from\`. ${conflictSentence}`,
      responses: {
        200: jsonResponse("Taken. A reply that was stopped is kept.", TakenObject),
        202: jsonResponse("With `stop: false`: reserved until the reply under way has ended.", ReservedObject),
      },
      bodyExample: { stop: true, as: { id: "7", name: "Grace" } },
      errors: ["conflict"],
    }),
    async handle({ request, set, params, readBody, ...caller }) {
      const { services } = caller;
      const opened = await openConversation(services, caller.principal, params.id);
      const { stop = true, from = null, as } = await readBody();
      contextOf(request, services.ids).allowSilence(takeSilenceSeconds);
      const taken = await services.people.take(await toTeamContext(caller, opened, as), { stop, from });
      if (taken.isTaken) return toWireState(taken.handoff);
      return respondJsonText(set, JSON.stringify({ state: "companion" }), 202);
    },
  }),
  route({
    id: "releaseConversation",
    method: "POST",
    path: "/api/conversations/{id}/release",
    tag: "People",
    summary: "Release a conversation to the companion",
    access: "conversations:reply",
    body: jsonBody(releaseBody, { isOptional: true }),
    document: () => ({
      description: `For the person who has it, or with their id in \`from\`. While a person is waited for it declines, and the ask counts as missed. ${conflictSentence}`,
      bodyExample: { close: false, as: { id: "7", name: "Grace" } },
      responses: done("The companion answers."),
      errors: ["conflict"],
    }),
    async handle({ params, readBody, ...caller }) {
      const { services } = caller;
      const opened = await openConversation(services, caller.principal, params.id);
      const { close = false, from = null, as } = await readBody();
      await services.people.release(await toTeamContext(caller, opened, as), { close, from });
    },
  }),
  route({
    id: "sendPersonMessage",
    method: "POST",
    path: "/api/conversations/{id}/messages",
    tag: "People",
    summary: "Write to a visitor",
    access: "conversations:reply",
    body: jsonBody(personMessageBody),
    status: 201,
    document: () => ({
      description:
        "Takes the conversation first, and stops a reply under way. The same `client_id` again is the same message, with " +
        "`Idempotent-Replayed`; with another text it is 409 `conflict`, as it is with `messages` in the problem where a colleague wrote beyond `after`.",
      responses: { 201: jsonResponse("Kept.", SentObject, "Idempotent-Replayed") },
      errors: ["conflict"],
    }),
    async handle({ request, set, params, readBody, ...caller }) {
      const { services } = caller;
      const opened = await openConversation(services, caller.principal, params.id);
      const { text, client_id, after = null, as } = await readBody();
      contextOf(request, services.ids).allowSilence(takeSilenceSeconds);
      const message = { text, clientId: client_id.toLowerCase(), afterSeq: after };
      const { seq, isRepeated } = await services.people.say(await toTeamContext(caller, opened, as), message);
      if (isRepeated) set.headers["idempotent-replayed"] = "true";
      return { seq };
    },
  }),
  route({
    id: "setPersonTyping",
    method: "POST",
    path: "/api/conversations/{id}/typing",
    tag: "People",
    summary: "Show that a person is typing",
    access: "conversations:reply",
    body: jsonBody(teamTypingBody),
    document: () => ({
      description: "It lapses after 6 s and with a message; what is typed is never sent.",
      responses: done("Shown to those who listen."),
      errors: ["conflict"],
    }),
    async handle({ params, readBody, ...caller }) {
      const { services } = caller;
      const opened = await openConversation(services, caller.principal, params.id);
      const { typing, as } = await readBody();
      const { person, conversationId, companion } = await toTeamContext(caller, opened, as);
      services.live.noteTyping({
        ...{ accountId: companion.accountId, companionId: companion.id, conversationId, isTyping: typing },
        ...{ by: "person", personId: person.id, name: person.name },
      });
    },
  }),
  route({
    id: "markConversationRead",
    method: "POST",
    path: "/api/conversations/{id}/read",
    tag: "People",
    summary: "Note how far a person has read",
    access: "conversations:reply",
    body: jsonBody(readBody),
    document: () => ({ responses: done("Noted for this person alone."), errors: ["conflict"] }),
    async handle({ params, readBody, ...caller }) {
      const { services } = caller;
      const opened = await openConversation(services, caller.principal, params.id);
      const { seq, as } = await readBody();
      const { person, conversationId } = await toTeamContext(caller, opened, as);
      const accountId = caller.principal.account.id;
      await services.store.handoffs.markRead(accountId, conversationId, person.id, seq);
    },
  }),
];
