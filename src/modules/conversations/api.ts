/** The conversations' routes, for the API document. */
import { Type as t } from "@sinclair/typebox";
import { type ApiOperation, idParam } from "../../http/api-description.ts";
import { pageQuery } from "../../http/paging.ts";
import { schemasOf } from "../../http/query.ts";
import { rangeQuery } from "../../http/time-range.ts";
import { Text } from "../../schemas/schema.ts";
import { defaultMessages, maxMessages } from "./message-paging.ts";
import { ConversationList, ConversationWithMessages } from "./responses.ts";

const filterQuery = {
  visitor_id: Text({ description: "Those of this visitor.", examples: ["0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11"] }),
  ...schemasOf(rangeQuery),
  q: Text({
    maxLength: 200,
    description:
      "Part of any message's text, in any case. A page may then hold fewer than `limit`, or none, while `next_cursor` leads on.",
    examples: ["opening hours"],
  }),
  ...schemasOf(pageQuery),
};
const list = {
  200: { description: "A page of conversations.", content: { "application/json": ConversationList } },
};

export const conversationsApi: ApiOperation[] = [
  {
    id: "listConversations",
    method: "GET",
    path: "/api/conversations",
    tag: "Conversations",
    summary: "List conversations",
    access: "conversations:read",
    query: { companion_id: idParam("companion"), ...filterQuery },
    answers: list,
  },
  {
    id: "listCompanionConversations",
    method: "GET",
    path: "/api/companions/{id}/conversations",
    tag: "Conversations",
    summary: "List a companion's conversations",
    access: "conversations:read",
    params: { id: idParam("companion") },
    query: filterQuery,
    answers: list,
  },
  {
    id: "getConversation",
    method: "GET",
    path: "/api/conversations/{id}",
    tag: "Conversations",
    summary: "Read a conversation with its messages",
    description: "With the newest page of its messages; `messages_next_cursor` leads to older ones.",
    access: "conversations:read",
    params: { id: idParam("conversation") },
    query: {
      messages_limit: t.Integer({
        minimum: 1,
        maximum: maxMessages,
        default: defaultMessages,
        description: "How many messages at most; very long ones make a page shorter.",
      }),
      messages_cursor: t.String({ description: "`messages_next_cursor` of the page before." }),
    },
    answers: {
      200: { description: "The conversation.", content: { "application/json": ConversationWithMessages } },
    },
  },
  {
    id: "deleteConversation",
    method: "DELETE",
    path: "/api/conversations/{id}",
    tag: "Conversations",
    summary: "Delete a conversation",
    access: "conversations:write",
    params: { id: idParam("conversation") },
    answers: { 204: { description: "Deleted." } },
  },
  {
    id: "eraseVisitor",
    method: "DELETE",
    path: "/api/companions/{id}/visitors/{visitor_id}",
    tag: "Conversations",
    summary: "Erase all that a visitor said",
    description:
      "From the database's files too, not only from its tables. Backups made before still hold it. Also 204 for a " +
      "visitor of whom nothing is kept.",
    access: "conversations:write",
    params: { id: idParam("companion"), visitor_id: idParam("visitor") },
    answers: { 204: { description: "Erased." } },
  },
];
