/** Bodies and responses of the routes for OpenAI's clients: schemas for the API document, created on first use. */
import { Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";
import { OpenAiErrorObject } from "../../http/schemas/problem.ts";
import { Nullable, Nullish, OneOf } from "../../http/schemas/schema.ts";
import { later } from "../../lib/later.ts";

const exampleId = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";

const makeTextPart = () => t.Object({ type: t.Literal("text"), text: t.String() });

const makeMessage = () =>
  t.Object({
    role: OneOf(["system", "developer", "user", "assistant"], {
      description: "Messages of `system` and `developer` are appended to the companion's own instructions.",
    }),
    content: t.Union([t.String(), t.Array(makeTextPart())], { examples: ["What are your opening hours?"] }),
  });

/** Checked by `readCompletion`. */
export const completionBody = {
  schema: later(() =>
    t.Object(
      {
        model: t.String({ description: "A companion's id.", examples: [exampleId] }),
        messages: t.Array(makeMessage(), { minItems: 1, description: "The whole conversation, oldest first." }),
        user: Nullish(
          t.String({ description: "Your name for the visitor: has a window of its own.", examples: ["user-42"] }),
        ),
        stream: Nullish(
          t.Boolean({
            default: false,
            description: "Generated clients that read one media type of a response leave it out: theirs is JSON.",
          }),
        ),
        stream_options: Nullish(
          t.Object({ include_usage: t.Optional(t.Boolean()) }, { description: "Only where `stream` is true." }),
        ),
        max_completion_tokens: Nullish(
          t.Integer({ minimum: 1, description: "Longest reply; never more than the companion's." }),
        ),
        max_tokens: Nullish(t.Integer({ minimum: 1, description: "The same under its older name." })),
        temperature: Nullish(t.Number({ minimum: 0, maximum: 2 })),
        stop: t.Optional(
          t.Union([t.String({ minLength: 1 }), t.Array(t.String({ minLength: 1 }), { maxItems: 4 }), t.Null()], {
            description: "Up to four texts before which the model stops.",
            examples: ["END"],
          }),
        ),
      },
      {
        $id: "ChatCompletionRequest",
        description:
          "Other parameters are ignored. Refused with 400, since ignoring them would change what you get: `n` above 1, `tools`, " +
          "`functions`, `response_format` other than text, `logprobs`, `modalities` other than text, `audio`, and parts of " +
          "messages that are not text.",
      },
    ),
  ),
};

const makeUsage = () =>
  t.Object({
    prompt_tokens: t.Integer({ examples: [212] }),
    completion_tokens: t.Integer({ examples: [18] }),
    total_tokens: t.Integer({ examples: [230] }),
    prompt_tokens_details: t.Object({ cached_tokens: t.Integer({ examples: [0] }) }),
  });

const makeFinishReason = () => OneOf(["stop", "length", "content_filter"]);

export const CompletionObject = namedObject("ChatCompletion", () => ({
  id: t.String({ examples: [`chatcmpl-${exampleId}`], description: "`chatcmpl-` and the `X-Request-Id`." }),
  object: t.Literal("chat.completion"),
  created: t.Integer({ description: "Seconds since 1970.", examples: [1_767_225_600] }),
  model: t.String({ description: "The companion's id.", examples: [exampleId] }),
  choices: t.Array(
    t.Object({
      index: t.Integer({ examples: [0] }),
      message: t.Object({
        role: t.Literal("assistant"),
        content: t.String({ examples: ["We are open from 9 to 18."] }),
        refusal: t.Null(),
      }),
      logprobs: t.Null(),
      finish_reason: makeFinishReason(),
    }),
  ),
  usage: makeUsage(),
}));

/** The data of a stream's events. */
export const CompletionEvent = later(() =>
  t.Union(
    [
      t.Object(
        {
          id: t.String(),
          object: t.Literal("chat.completion.chunk"),
          created: t.Integer(),
          model: t.String(),
          choices: t.Array(
            t.Object({
              index: t.Integer(),
              delta: t.Object({
                role: t.Optional(t.Literal("assistant")),
                content: t.Optional(t.String()),
                refusal: t.Optional(t.Null()),
              }),
              logprobs: t.Null(),
              finish_reason: Nullable(makeFinishReason()),
            }),
            { description: "Empty in the chunk of usage." },
          ),
          usage: Nullish(makeUsage()),
        },
        { $id: "ChatCompletionChunk" },
      ),
      OpenAiErrorObject,
      // As in `ChatEvent`.
      t.String({
        $id: "ChatCompletionEnd",
        examples: ["[DONE]"],
        description: "`[DONE]`: the last event of a reply that is complete.",
      }),
    ],
    { $id: "ChatCompletionEvent", description: "The `data` of one event of the stream." },
  ),
);

export const ModelObject = namedObject("Model", () => ({
  id: t.String({ description: "The companion's id.", examples: [exampleId] }),
  object: t.Literal("model"),
  created: t.Integer({ description: "Seconds since 1970.", examples: [1_767_225_600] }),
  owned_by: t.String({ examples: ["companiond"] }),
  name: t.String({ description: "The companion's name, for those who choose one.", examples: ["Ada"] }),
}));

export const ModelList = namedObject("ModelList", () => ({
  object: t.Literal("list"),
  data: t.Array(ModelObject, { description: "The newest first." }),
  first_id: Nullable(t.String()),
  last_id: Nullable(t.String({ description: "`after` for the next page." })),
  has_more: t.Boolean(),
}));
