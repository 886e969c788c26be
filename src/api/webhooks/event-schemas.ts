/** What is sent to webhooks, for the API document: each type of event with its data. */
import { type TProperties, Type as t } from "@sinclair/typebox";
import { budgetActions, budgetPeriods } from "../../domain/budget.ts";
import { conversationStatuses } from "../../domain/handoff.ts";
import { type EventType, eventTypes, testEventType } from "../../domain/webhook.ts";
import { instant } from "../../http/schemas/named-object.ts";
import { AnyObject, Nullable, Nullish, OneOf } from "../../http/schemas/schema.ts";
import { later } from "../../lib/later.ts";

const id = (description: string) => t.String({ format: "uuid", description });
const metadata = () => AnyObject({ description: "The companion's, as it was then." });

const ofCompanion = () => ({
  companion_id: id("The companion's."),
  name: t.String({ description: "The companion's.", examples: ["Ada"] }),
  metadata: metadata(),
});

const ofConversation = () => ({
  companion_id: id("The companion's."),
  conversation_id: id("The conversation's."),
  session_id: id("As the client sent it."),
  visitor_id: Nullish(id("As the client sent it; absent for a verified visitor.")),
  sub: Nullish(t.String({ description: "Of a verified visitor: the website's own name." })),
});

const question = () => ({
  message_id: Nullable(id("The client's name for the message, or else the question's id.")),
  question_id: Nullable(id("Of the visitor's message in the transcript; null if it is not stored.")),
});

const words = (description: string) =>
  Nullish(t.String({ description: `${description} Only with \`include_content\`.` }));

const reply = () => ({
  ...question(),
  reply_id: Nullable(id("Of the reply in the transcript; null if nothing of it is stored.")),
  message: words("What the visitor wrote."),
  reply: words("What the companion replied, or as much of it as there is."),
});

const person = () =>
  Nullable(
    t.Object({
      name: Nullable(t.String({ description: "As visitors read it; null until the member has a name." })),
      member_id: Nullable(id("The member's; null for a key's person.")),
      key_id: Nullable(id("The key's; null for a member.")),
    }),
  );

const deadline = (description: string) => t.String({ format: "date-time", description });

const asker = () => OneOf(["visitor", "model", "clock", "person"], { description: "Who caused it." });

const dataOf: Readonly<Record<EventType, () => TProperties>> = {
  "conversation.started": () => ({
    ...ofConversation(),
    channel: OneOf(["text", "voice"], { description: "How it began." }),
  }),
  "message.completed": () => ({
    ...ofConversation(),
    ...reply(),
    finish_reason: Nullable(t.String({ description: "Why the model stopped.", examples: ["stop"] })),
  }),
  "message.failed": () => ({
    ...ofConversation(),
    conversation_id: Nullable(id("The conversation's; null if nothing was stored in one yet.")),
    ...reply(),
    reason: t.String({ description: "As the stream reports it.", examples: ["upstream_error"] }),
  }),
  "question.unanswered": () => ({ ...ofConversation(), ...question(), question: words("What the visitor asked.") }),
  "budget.reached": () => ({
    budget_id: id("The budget's."),
    account: Nullable(t.Boolean()),
    key_id: Nullable(t.String()),
    companion_id: Nullable(t.String()),
    metadata: Nullable(AnyObject()),
    limit_micros: t.Integer({ description: "In millionths of a US dollar." }),
    period: OneOf(budgetPeriods),
    action: OneOf(budgetActions),
  }),
  "companion.created": ofCompanion,
  "companion.updated": () => ({
    ...ofCompanion(),
    changed: t.Array(t.String(), { description: "The names of the fields.", examples: [["system_prompt"]] }),
  }),
  "companion.deleted": ofCompanion,
  "visitor.erased": () => ({
    companion_id: id("The companion's."),
    visitor_id: Nullable(t.String({ description: "The name that was erased." })),
    sub: Nullable(
      t.String({ description: "The same name: the anonymous and the verified visitor of that name are both erased." }),
    ),
  }),
  "voice.transcript": () => ({
    ...ofConversation(),
    message_id: t.Null(),
    message_count: t.Integer({ description: "How many messages the transcript has." }),
    messages: t.Optional(
      t.Array(t.Object({ role: OneOf(["user", "assistant"]), text: t.String() }), {
        description: "What was spoken. Only with `include_content`.",
      }),
    ),
  }),
  "handoff.requested": () => ({
    ...ofConversation(),
    by: asker(),
    until: deadline("How long a person is waited for."),
  }),
  "handoff.taken": () => ({
    ...ofConversation(),
    person: person(),
    from: person(),
    until: deadline("When it is the companion's again if no one writes."),
  }),
  "handoff.released": () => ({
    ...ofConversation(),
    reason: OneOf(["released", "visitor", "idle", "closed"], { description: "Why it is the companion's again." }),
    person: person(),
  }),
  "handoff.missed": () => ({ ...ofConversation(), by: asker() }),
  "message.visitor": () => ({ ...ofConversation(), ...question(), message: words("What the visitor wrote.") }),
  "message.person": () => ({
    ...ofConversation(),
    message_id: id("The client's name for the message."),
    reply_id: id("Of the message in the transcript."),
    person: person(),
    text: words("What the person wrote."),
  }),
  "conversation.updated": () => ({
    ...ofConversation(),
    status: Nullable(OneOf(conversationStatuses)),
    assignee: Nullable(id("The member's.")),
    tags: t.Array(t.String()),
  }),
  "contact.given": () => ({ ...ofConversation(), consented_at: deadline("When the visitor agreed.") }),
  "rating.given": () => ({
    ...ofConversation(),
    message_id: id("The client's name of the exchange."),
    rating: Nullable(OneOf(["up", "down"])),
    reasons: t.Array(t.String()),
  }),
};

const eventOf = (type: string, data: TProperties) =>
  t.Object(
    {
      type: t.Literal(type),
      timestamp: instant("When it happened."),
      data: t.Object(data),
    },
    { $id: nameOf(type) },
  );

/** `message.completed` is `MessageCompletedEvent`. */
const nameOf = (type: string) => `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

export const WebhookEvent = later(() =>
  t.Union(
    [
      ...eventTypes.map((type) => eventOf(type, dataOf[type]())),
      eventOf(testEventType, { webhook_id: id("The webhook that is tested.") }),
    ],
    { $id: "WebhookEvent", description: "What is sent to a webhook; the fields of `data` depend on `type`." },
  ),
);
