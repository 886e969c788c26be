/** Lists of conversations: what they are filtered by, and their pages. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import { invalidFields } from "../../domain/errors.ts";
import { conversationStatuses, maxTagLength } from "../../domain/handoff.ts";
import { isSub, maxSubLength } from "../../domain/visitor.ts";
import { readerQuery, readingPersonId } from "../../http/acting-person.ts";
import { collectList, updatedPageQuery } from "../../http/paging.ts";
import { type QueryValues, rangeQuery, uuidQuery, valueQuery } from "../../http/query.ts";
import { ConversationRows } from "../../http/schemas/conversation.ts";
import { OneOf, Text } from "../../http/schemas/schema.ts";

/** Longer texts would only cost time. */
const maxSearchLength = 200;

function chosen<Value extends string>(name: string, values: readonly Value[], description: string) {
  const parse = (text: string) => values.find((value) => value === text);
  return valueQuery(name, () => OneOf(values, { description }), parse, `Must be one of: ${values.join(", ")}.`);
}

function whether(name: string, description: string) {
  const parse = (text: string) => ({ true: true, false: false })[text];
  return valueQuery(name, () => t.Boolean({ description }), parse, "Must be true or false.");
}

const peopleQuery = {
  state: chosen("state", ["waiting", "person"], "Only those in this state."),
  status: chosen("status", conversationStatuses, "Only those with this status."),
  assignee: uuidQuery("assignee", () => Text({ description: "Only those assigned to this member." })),
  tag: valueQuery(
    "tag",
    () =>
      Text({ minLength: 1, maxLength: maxTagLength, description: "Only those with this tag.", examples: ["returns"] }),
    (text) => (text.length >= 1 && text.length <= maxTagLength ? text.toLowerCase() : undefined),
    `Must be 1 to ${maxTagLength} characters.`,
  ),
  unread: chosen("unread", ["true"], "Only those in which the visitor wrote what you have not read."),
  rating: chosen("rating", ["up", "down"], "Only those with a reply that was rated so."),
  unanswered: whether("unanswered", "Only those with, or without, a question for which the sources had nothing."),
  failed: whether("failed", "Only those with, or without, a reply that could not be finished."),
  verified: whether("verified", "Only those of verified visitors, or of others."),
  channel: chosen("channel", ["text", "voice"], "Only those with a message of this channel."),
  include: chosen(
    "include",
    ["excerpts"],
    "Adds `first_message`, `last_message`, `unanswered`, `failed` and `channels` to each conversation, and with `q` also `matches`.",
  ),
  as: readerQuery,
};

export const filterQuery = {
  visitorId: uuidQuery("visitor_id", () =>
    Text({ description: "Only those of this visitor.", examples: ["0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11"] }),
  ),
  visitorSub: valueQuery(
    "visitor_sub",
    () =>
      Text({
        minLength: 1,
        maxLength: maxSubLength,
        description: "Only those of the verified visitor whom the website calls by this `sub`.",
        examples: ["customer-42"],
      }),
    (text) => (isSub(text) ? text : undefined),
    `Must be 1 to ${maxSubLength} characters.`,
  ),
  range: rangeQuery,
  q: valueQuery(
    "q",
    () =>
      Text({
        maxLength: maxSearchLength,
        description:
          "Part of any message's text, in any case. A page may then have fewer items than `limit`, or none, although `next_cursor` leads to more.",
        examples: ["opening hours"],
      }),
    (text) => (text.length <= maxSearchLength ? text || null : undefined),
    `Must be at most ${maxSearchLength} characters.`,
  ),
  ...peopleQuery,
  page: updatedPageQuery,
};

export async function listConversations(
  services: Services,
  principal: Principal,
  companionId: string | null,
  {
    visitorId,
    visitorSub,
    range,
    q,
    state,
    status,
    assignee,
    tag,
    unread,
    rating,
    unanswered,
    failed,
    verified,
    channel,
    include,
    as,
    page,
  }: QueryValues<typeof filterQuery>,
) {
  const { store, visitors } = services;
  const accountId = principal.account.id;
  const readerId = readingPersonId(principal, as);
  if (unread && readerId === null) throw invalidFields([{ param: "as", detail: "Name whose unread ones they are." }]);
  const verifiedId = visitorSub === null ? null : await visitors.findId(accountId, visitorSub);
  // No visitor is both, nor one who was never seen.
  const isNone = visitorSub !== null && (verifiedId === null || visitorId !== null);
  const people = { state, status, assigneeId: assignee, tag, unreadBy: unread ? readerId : null, rating };
  const marks = { unanswered, failed, verified, channel };
  const { updatedSinceMs } = page;
  const filter = { companionId, visitorId: verifiedId ?? visitorId, ...range, q, ...people, ...marks, updatedSinceMs };
  const rows = new ConversationRows(services, accountId, readerId);
  return collectList(
    page,
    async (part) => {
      if (isNone) return { items: [], nextAfterId: null };
      const found = await store.conversations.list(accountId, filter, part);
      const shown = await (include === null ? rows.show(found.items) : rows.showWithExcerpts(found.items, q));
      return { ...found, items: found.items.map(({ id, updatedAt }, at) => ({ id, updatedAt, row: shown[at] })) };
    },
    ({ row = {} }) => row,
  );
}
