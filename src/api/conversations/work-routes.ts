/** `/api/conversations/{id}` and below: what the team keeps of a conversation: status, assignee, tags, notes and history. */
import { sealedReasonName } from "../../core/people/visitors-side.ts";
import { invalidFields, missing, readId } from "../../domain/errors.ts";
import { maxNotes } from "../../domain/handoff.ts";
import { actingPerson } from "../../http/acting-person.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { ConversationObject, ConversationRows } from "../../http/schemas/conversation.ts";
import { openOrNull } from "../../lib/sealing.ts";
import { noteName, openConversation, openNote, requirePeople, toTeamContext } from "./team-conversation.ts";
import { conversationPatchBody, noteBody } from "./team-model.ts";
import { HandoffEventObject, NoteObject, toWireEvent, toWireNote } from "./team-responses.ts";

export const workRoutes: readonly Route[] = [
  route({
    id: "updateConversation",
    method: "PATCH",
    path: "/api/conversations/{id}",
    tag: "People",
    summary: "Change a conversation's status, assignee or tags",
    access: "conversations:reply",
    body: jsonBody(conversationPatchBody, { answer: ConversationObject }),
    document: () => ({
      bodyExample: { status: "answered", tags: ["returns"], as: { id: "7", name: "Grace" } },
      responses: { 200: jsonResponse("The conversation as it is now.", ConversationObject) },
      errors: ["conflict"],
    }),
    async handle({ params, readBody, ...caller }) {
      const { services } = caller;
      const { store } = services;
      const { account } = caller.principal;
      const opened = await openConversation(services, caller.principal, params.id);
      const { status, assignee, tags, as } = await readBody();
      const team = await toTeamContext(caller, opened, as);
      const isUnknown = assignee != null && (await store.members.find(account.id, assignee)) === null;
      if (isUnknown) throw invalidFields([{ param: "assignee", detail: "There is no such member." }]);
      await services.people.update(team, {
        ...(status === undefined ? {} : { status }),
        ...(assignee === undefined ? {} : { assigneeId: assignee }),
        ...(tags === undefined ? {} : { tags }),
      });
      const found = await store.conversations.find(account.id, opened.conversationId, { limit: 1, before: null });
      if (found === null) throw missing("conversation");
      const rows = new ConversationRows(services, account.id, team.person.id);
      return (await rows.show([found.conversation]))[0];
    },
  }),
  route({
    id: "addConversationNote",
    method: "POST",
    path: "/api/conversations/{id}/notes",
    tag: "People",
    summary: "Add a note for the team",
    access: "conversations:reply",
    body: jsonBody(noteBody),
    isIdempotent: true,
    document: () => ({
      description: `A conversation has at most ${maxNotes} notes.`,
      responses: { 201: jsonResponse("The note.", NoteObject) },
      errors: ["conflict", "limit_reached"],
    }),
    async handle({ services, set, principal, params, createOnce }) {
      const opened = await openConversation(services, principal, params.id);
      const answer = await createOnce(async ({ text, as }, { nowMs }) => {
        const author = await actingPerson(services, principal, as);
        requirePeople(opened);
        const { store, ids, sealing } = services;
        const id = ids.uuid();
        const note = { id, author, createdAt: nowMs, sealedText: await sealing.seal(noteName(id), text) };
        const { text: _, ...response } = toWireNote(note, text);
        return {
          response,
          // What is kept of a response for its replay is not sealed.
          secret: { text },
          async write(context) {
            const isThere = await store.handoffs.addNote(principal.account.id, opened.conversationId, note, context);
            if (!isThere) throw missing("conversation");
          },
        };
      });
      if (set.headers["idempotent-replayed"] === undefined) return answer;
      const kept = JSON.parse(answer);
      const notes = await services.store.handoffs.listNotes(principal.account.id, opened.conversationId);
      const note = notes.find(({ id }) => id === kept.id);
      return {
        ...kept,
        text: note === undefined ? "" : await openNote(services, note),
      };
    },
  }),
  route({
    id: "deleteConversationNote",
    method: "DELETE",
    path: "/api/conversations/{id}/notes/{note_id}",
    tag: "People",
    summary: "Delete a note",
    access: "conversations:reply",
    document: () => ({
      params: { note_id: idParam("note") },
      responses: { 204: { description: "Deleted." } },
      errors: ["conflict"],
    }),
    async handle({ services: { store }, principal, params, writeContext }) {
      const opened = await openConversation({ store }, principal, params.id);
      const noteId = readId(params.noteId, "note");
      requirePeople(opened);
      const { conversationId } = opened;
      const isDeleted = await store.handoffs.deleteNote(principal.account.id, conversationId, noteId, writeContext());
      if (!isDeleted) throw missing("note");
    },
  }),
  route({
    id: "listConversationEvents",
    method: "GET",
    path: "/api/conversations/{id}/events",
    tag: "People",
    summary: "List what people did with a conversation",
    access: "conversations:read",
    query: { page: pageQuery },
    document: () => ({
      responses: {
        200: jsonResponse("A page of its history of people.", listOf(HandoffEventObject, "ConversationEventList")),
      },
      errors: ["conflict"],
    }),
    async handle({ services, principal, params, query: { page } }) {
      const opened = await openConversation(services, principal, params.id);
      requirePeople(opened);
      const { conversationId } = opened;
      const found = await services.store.handoffs.listEvents(principal.account.id, conversationId, page);
      if (found === null) throw missing("conversation");
      const name = sealedReasonName(opened.companion.id);
      const items = await Promise.all(
        found.items.map(async (event) => ({
          ...event,
          reason: await openOrNull(services.sealing, name, event.sealedReason),
        })),
      );
      return toWireList({ ...found, items }, (event) => toWireEvent(event, event.reason));
    },
  }),
];
