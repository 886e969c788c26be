/** What a visitor's widget sends, and a platform for its visitors. */
import { type Static, type TObject, type TProperties, Type as t } from "@sinclair/typebox";
import type { FieldError } from "../../domain/errors.ts";
import { embedBodyLimitBytes, type JsonBody, uncheckedBody } from "../../http/json-body.ts";
import { messageText, nullishUuid } from "../../http/schemas/chat-message.ts";
import { checkWith, compileChecker, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { describeVisitor, listVisitorFaults } from "../../http/schemas/visitor.ts";

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

const limits = { limitBytes: embedBodyLimitBytes };

type VisitorFields = ReturnType<typeof describeVisitor>;

/** Throws `invalid_request` with all that is at fault. */
function relay<Fields extends TProperties>(
  name: string,
  describe: () => Fields,
  as: string,
  listFaults: (sent: unknown) => FieldError[] = () => [],
): JsonBody<Static<TObject<Fields & VisitorFields>>> {
  const description = `As ${as}, with the visitor for whom the platform vouches.`;
  const checker = compileChecker(() =>
    t.Object({ ...describe(), ...describeVisitor() }, { $id: `Key${name}`, description }),
  );
  const check = (sent: unknown) => checkWith(checker, sent, [...listFaults(sent), ...listVisitorFaults(sent)]);
  return { ...uncheckedBody(checker, limits), check };
}

/** What a widget sends, and the same with the visitor for whom a platform vouches: as the bodies of both routes. */
export function makeBodies<Fields extends TProperties>(
  name: string,
  describe: () => Fields,
  as = "on the public route",
) {
  const checker = compileChecker(() => t.Object(describe(), { $id: name }));
  const own: JsonBody<Static<TObject<Fields>>> = { ...uncheckedBody(checker, limits), check: checker.check };
  return { own, relayed: relay(name, describe, as) };
}

/** What was sent, as it is read. */
export type Sent<Body extends JsonBody<unknown>> = ReturnType<Body["check"]>;

/** What a platform sends for one of its visitors. */
export const relayedChat = relay(
  "ChatRequest",
  () => chatRequest.schema.properties,
  "in the public chat",
  (sent) => listNamingFaults(sent as Partial<ChatRequest> | null),
);

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

export const decisionBodies = makeBodies("DecisionRequest", describeDecision, "in the public chat");

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
      maximum: 999_999_999_999_999,
      description: "The `seq` up to which the visitor has seen everything; it never goes back.",
    }),
  ),
});

export const liveBodies = makeBodies("LiveReport", describeLiveReport);

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

export const personBodies = makeBodies("PersonRequest", describeAsk, "in the public chat");

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
