/** Errors as callers read them: their schemas. */
import { Type as t } from "@sinclair/typebox";
import { errorCodes } from "../../domain/errors.ts";
import { conversationStates } from "../../domain/handoff.ts";
import { failureKinds } from "../../domain/reply-failure.ts";
import { AuthorObject } from "./message.ts";
import { instant, namedObject } from "./named-object.ts";
import { Nullable, OneOf } from "./schema.ts";

const hexDigits = (description: string) =>
  t.String({
    pattern: "^[0-9a-f]{64}$",
    description,
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  });

const ChallengeObject = namedObject(
  "Challenge",
  () => ({
    algorithm: t.Literal("SHA-256"),
    challenge: hexDigits("The hash of the salt with the number that is to be found written behind it."),
    maxnumber: t.Integer({ maximum: 1_000_000, description: "The number is from 0 to this one.", examples: [100000] }),
    salt: t.String({
      description: "Holds `expires`, Unix seconds: the challenge and its solution end then.",
      examples: ["6b2a0f4c9d8e7f1a2b3c4d5e?expires=1767225900&"],
    }),
    signature: hexDigits("To be sent back; each is good for one message or voice session."),
  }),
  {
    description:
      "A proof of work in ALTCHA's form, version 1. The answer is the base64 of the JSON of `algorithm`, `challenge`, " +
      "`number`, `salt` and `signature`, in the header `X-Challenge`.",
  },
);

export const ProblemObject = namedObject(
  "Problem",
  () => ({
    type: t.String({ format: "uri", description: "Where the error is explained." }),
    title: t.String(),
    status: t.Integer(),
    detail: t.String({ description: "What happened and what to do, for people." }),
    code: OneOf(Object.keys(errorCodes), { description: "What happened, for programs." }),
    request_id: t.String({ description: "The `X-Request-Id`; name it when reporting." }),
    errors: t.Optional(
      t.Array(
        t.Object({
          param: t.String({ description: "The field, parameter or header at fault." }),
          detail: t.String(),
        }),
        { description: "On `invalid_request`: every field at fault." },
      ),
    ),
    challenge: t.Optional(ChallengeObject),
    state: t.Optional(
      OneOf(conversationStates, { description: "On `conflict`, where people step into conversations: who answers." }),
    ),
    person: t.Optional(
      Nullable(
        t.Object({ id: t.String(), name: Nullable(t.String()) }, { description: "The same: who of the team has it." }),
      ),
    ),
    messages: t.Optional(
      t.Array(t.Object({ seq: t.Integer(), author: AuthorObject, text: t.String(), created_at: instant("When.") }), {
        description: "On `conflict` of a person's message: what colleagues wrote beyond `after`.",
      }),
    ),
    fields: t.Optional(
      t.Array(t.String(), {
        description: "On `conflict` of a draft: its fields that were changed live since it began.",
      }),
    ),
    kind: t.Optional(
      OneOf(failureKinds, {
        description: "On `upstream_error`, to callers who may manage the companion: why the reply failed.",
      }),
    ),
  }),
  { description: "RFC 9457 problem details." },
);

export const OpenAiErrorObject = namedObject(
  "OpenAiError",
  () => ({
    error: t.Object({
      message: t.String({ description: "What happened and what to do, for people." }),
      type: t.String(),
      param: t.Union([t.String(), t.Null()], { description: "The first field at fault." }),
      code: t.String({ description: "What happened, for programs: OpenAI's code, or ours where it has none." }),
    }),
  }),
  { description: "An error as OpenAI's clients read it." },
);
