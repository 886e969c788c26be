/** What a visitor's widget sends, and a platform for its visitors. */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox";
import { type FieldError, invalidFields } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { areAttributes, isSub, maxSubLength, type VisitorClaims } from "../../domain/visitor.ts";
import { messageText, nullishUuid } from "../../http/schemas/chat-message.ts";
import { AnyObject, type Checker, compileChecker, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";

export const chatRequest = compileChecker(() =>
  t.Object(
    {
      message: messageText(),
      session_id: nullishUuid(
        "Identifies the conversation. If left out, a new one begins; its id is in `X-Session-Id`.",
      ),
      visitor_id: nullishUuid("Identifies the visitor across conversations; ignored for a verified one."),
      message_id: nullishUuid(
        "Names the message, so that the same request can be made again: it gets the same reply, and nothing is " +
          "counted twice. Needs `session_id`.",
      ),
      resume: Nullish(
        t.Boolean({
          default: false,
          description:
            "Whether the reply goes on when its reader leaves, for two minutes at most. Needs `message_id`, under " +
            "which the client comes back.",
        }),
      ),
      events: t.Optional(
        t.Boolean({
          default: false,
          description:
            "Whether the stream carries named events beside the text: before its end `event: sources`, with what a " +
            "reply from the companion's knowledge cites, and where people may step in `event: state`.",
        }),
      ),
    },
    { $id: "ChatRequest" },
  ),
);
export type ChatRequest = Static<typeof chatRequest.schema>;

/** Decides on a call that a model asked for. */
const describeDecision = () => ({
  approve: t.Boolean({
    description: "Whether the call is made. With `false` the model learns that the visitor declined it.",
  }),
  session_id: Text({
    pattern: uuidPattern,
    description: "The conversation's id, as sent with the message.",
    examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
  }),
  visitor_id: nullishUuid("The visitor's id, if one was sent with the message. Ignored for verified visitors."),
});

export const decisionRequest = compileChecker(() => t.Object(describeDecision(), { $id: "DecisionRequest" }));
export type DecisionRequest = Static<typeof decisionRequest.schema>;

export const keyDecisionRequest = compileChecker(() =>
  t.Object(
    { ...describeDecision(), ...describeVisitor() },
    {
      $id: "KeyDecisionRequest",
      description: "As in the public chat, with the visitor for whom the platform vouches.",
    },
  ),
);

/** What a visitor who follows a conversation reports of it. */
const describeLiveReport = () => ({
  session_id: Text({
    pattern: uuidPattern,
    description: "The conversation's id, as sent with its messages.",
    examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
  }),
  visitor_id: nullishUuid("The visitor's id, if one was sent with the messages. Ignored for verified visitors."),
  typing: t.Optional(
    t.Boolean({ description: "Whether the visitor is typing. It lapses after 6 s; what is typed is never sent." }),
  ),
  seen: t.Optional(
    t.Integer({
      minimum: 0,
      description: "The `seq` up to which the visitor has seen everything; it never goes back.",
    }),
  ),
});

export const liveReport = compileChecker(() => t.Object(describeLiveReport(), { $id: "LiveReport" }));
export type LiveReport = Static<typeof liveReport.schema>;

export const keyLiveReport = compileChecker(() =>
  t.Object(
    { ...describeLiveReport(), ...describeVisitor() },
    { $id: "KeyLiveReport", description: "As on the public route, with the visitor for whom the platform vouches." },
  ),
);

export const describeVisitor = () => ({
  visitor: Nullish(
    t.Object(
      {
        sub: Text({
          accepts: isSub,
          problem: `Must be 1 to ${maxSubLength} characters of well-formed text without NUL, and neither . nor ..`,
          description: `The platform's own name for the visitor: 1 to ${maxSubLength} characters.`,
          examples: ["user-42"],
        }),
        name: Nullish(Text({ maxLength: 1000, examples: ["Grace"] })),
        email: Nullish(Text({ maxLength: 1000, examples: ["grace@example.com"] })),
        attributes: Nullish(attributesObject()),
      },
      {
        description: "Who the visitor is. The key vouches for it: it counts as verified, and `visitor_id` is ignored.",
      },
    ),
  ),
});

/** What a platform sends for one of its visitors. */
export const keyChatRequest = compileChecker(() =>
  t.Object(
    {
      ...chatRequest.schema.properties,
      ...describeVisitor(),
    },
    { $id: "KeyChatRequest", description: "As in the public chat, with the visitor for whom the platform vouches." },
  ),
);
export type KeyChatRequest = Static<typeof keyChatRequest.schema>;

function attributesObject() {
  return AnyObject({
    description: "What else is known of the visitor: at most 2 KiB of UTF-8 JSON.",
    examples: [{ plan: "pro" }],
  });
}

/** Asks for a person. */
const describeAsk = () => ({
  session_id: Text({
    pattern: uuidPattern,
    problem: "Must be a UUID.",
    description: "The conversation's id: of one that is to begin, too.",
  }),
  visitor_id: nullishUuid("The visitor's id, as sent with messages. Ignored for verified visitors."),
  reason: Nullish(Text({ maxLength: 500, description: "Why, for the team." })),
});

export const personRequest = compileChecker(() => t.Object(describeAsk(), { $id: "PersonRequest" }));
export type PersonRequest = Static<typeof personRequest.schema>;

export const keyPersonRequest = compileChecker(() =>
  t.Object(
    { ...describeAsk(), ...describeVisitor() },
    { $id: "KeyPersonRequest", description: "As in the public chat, with the visitor for whom the platform vouches." },
  ),
);

/** Null if it names nobody. */
export function toClaims({ visitor }: Pick<KeyChatRequest, "visitor">): VisitorClaims | null {
  if (visitor == null) return null;
  const { sub, name = null, email = null, attributes } = visitor;
  return { sub, name, email, attributes: attributes ?? {} };
}

/** Throws `invalid_request` with all that is at fault. */
export function checkKeyMessage(sent: unknown): KeyChatRequest {
  const body = sent as Partial<KeyChatRequest> | null;
  return checkWith(keyChatRequest, sent, [...listNamingFaults(body), ...listVisitorFaults(body)]);
}

/** Throws `invalid_request` with all that is at fault. */
export function checkKeyLiveReport(sent: unknown): Static<typeof keyLiveReport.schema> {
  return checkWith(keyLiveReport, sent, listVisitorFaults(sent as Partial<KeyChatRequest> | null));
}

/** Throws `invalid_request` with all that is at fault. */
export function checkKeyDecision(sent: unknown): Static<typeof keyDecisionRequest.schema> {
  return checkWith(keyDecisionRequest, sent, listVisitorFaults(sent as Partial<KeyChatRequest> | null));
}

/** Throws `invalid_request` with all that is at fault. */
export function checkKeyPerson(sent: unknown): Static<typeof keyPersonRequest.schema> {
  return checkWith(keyPersonRequest, sent, listVisitorFaults(sent as Partial<KeyChatRequest> | null));
}

/** The same with faults that the schema does not show, in place of what it says of these fields. */
export function checkWith<Schema extends TSchema>(
  checker: Checker<Schema>,
  sent: unknown,
  faults: readonly FieldError[],
): Static<Schema> {
  if (faults.length === 0) return checker.check(sent);
  const others = checker.listErrors(sent).filter(({ param }) => faults.every((fault) => fault.param !== param));
  throw invalidFields([...others, ...faults]);
}

/** What the schema does not say of attributes; the rest of them may not have been checked. */
export function listVisitorFaults(body: Partial<KeyChatRequest> | null): FieldError[] {
  const attributes: unknown = body?.visitor?.attributes ?? {};
  if (typeof attributes !== "object" || attributes === null || areAttributes(attributes as JsonObject)) return [];
  const detail = "Must be at most 2 KiB of JSON, not too deep, with well-formed texts without NUL characters.";
  return [{ param: "visitor.attributes", detail }];
}

/** What a named message lacks; the rest of it may not have been checked. */
export function listNamingFaults(body: Partial<ChatRequest> | null): FieldError[] {
  const { message_id, session_id, resume } = body ?? {};
  const faults: FieldError[] = [];
  if (resume === true && !message_id) {
    faults.push({ param: "message_id", detail: "This field is required where resume is true." });
  }
  if (message_id && !session_id) {
    faults.push({ param: "session_id", detail: "This field is required where there is a message_id." });
  }
  return faults;
}
