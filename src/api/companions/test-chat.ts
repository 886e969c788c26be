/** What owners send to a test chat, and the trace that they get of it. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { TrialTrace } from "../../core/turns/trial.ts";
import { type HistoryMessage, textOf, textParts } from "../../domain/conversation.ts";
import type { FieldError } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { isClean, isWithin } from "../../domain/metadata.ts";
import { maxArgumentDepth, readArguments } from "../../domain/tool.ts";
import { messageText, nullishUuid } from "../../http/schemas/chat-message.ts";
import { AnyObject, checkWith, compileChecker, Nullish, Text } from "../../http/schemas/schema.ts";
import { describeVisitor, listVisitorFaults } from "../../http/schemas/visitor.ts";

export const testChatBody = compileChecker(() =>
  t.Object(
    {
      message: messageText(),
      session_id: nullishUuid("Accepted as in the public chat, without effect: nothing is stored."),
      visitor_id: nullishUuid("Accepted as in the public chat, without effect: nothing is stored."),
      ...describeVisitor(
        "Who the visitor is, as if it were verified; for instructions and tools. Left out: not known.",
      ),
      history: Nullish(
        t.Array(
          t.Object({
            role: t.Union([t.Literal("user"), t.Literal("assistant")], { description: "Who said it." }),
            text: Text({ minLength: 1, maxLength: 100_000, description: "What was said.", examples: ["Hello!"] }),
          }),
          { maxItems: 200, description: "Earlier turns, oldest first, since nothing is stored between calls." },
        ),
      ),
      draft: Nullish(
        t.Boolean({ description: "True: the companion as its draft would make it. 404 without a draft." }),
      ),
      version: Nullish(
        t.Integer({
          minimum: 1,
          maximum: 2 ** 31 - 1,
          description:
            "The companion and its tools as they were in this version, with the sources that it has now; not beside " +
            "`draft`. A tool that is gone since then can be called only where `tool_results` answer.",
        }),
      ),
      model: Nullish(
        Text({
          maxLength: 200,
          description: "Instead of the companion's model: one that the server offers.",
          examples: ["gpt-6-luna"],
        }),
      ),
      tool_results: Nullish(
        AnyObject({
          description:
            "Answers the model's calls: no tool is called then, and no visitor asked to confirm. By the name of the tool: " +
            '`{"result": …}`, `{"error": …}`, or a list of those, one for each call in order; anything else is the ' +
            "result itself. A call without an answer fails, and is `unanswered` in the trace. The message is none of the " +
            "day's then.",
          examples: [{ find_order: { result: { status: "shipped" } } }],
        }),
      ),
      trace: Nullish(
        t.Boolean({
          description:
            "True: before its end the stream reports, in a comment line `: trace {…}` that clients ignore, what was " +
            "sent to the model, its calls of tools, the sources that it got, the tokens and what they cost, the version, and " +
            "the time to the first and to the last text.",
        }),
      ),
    },
    { $id: "TestChat" },
  ),
);
export type TestChatBody = Static<typeof testChatBody.schema>;

/** `models`: those that companions may choose. Throws `invalid_request` with all that is at fault. */
export function checkTestChat(sent: unknown, models: readonly string[]): TestChatBody {
  const { draft, version, model, tool_results: results } = (isJsonObject(sent) ? sent : {}) as Partial<TestChatBody>;
  const faults: FieldError[] = listVisitorFaults(sent);
  const add = (param: string, detail: string) => faults.push({ param, detail });
  if (draft === true && version != null) add("version", "Not beside draft: a draft is no version.");
  if (typeof model === "string" && !models.includes(model)) add("model", `Must be one of: ${models.join(", ")}.`);
  if (isJsonObject(results) && !(isWithin(results, maxArgumentDepth) && isClean(results))) {
    add(
      "tool_results",
      `Must be at most ${maxArgumentDepth} levels deep, with well-formed texts without NUL characters.`,
    );
  }
  return checkWith(testChatBody, sent, faults);
}

/** Newest first, as turns take it. */
export function toHistory({ history }: TestChatBody): HistoryMessage[] {
  return (history ?? []).map(({ role, text }) => ({ role, parts: textParts(text) })).reverse();
}

/** What the trace of a test chat shows the owner. `version`: that answered; null for a draft. */
export function toWireTrace(trace: TrialTrace, version: number | null, totalMs: number) {
  const { request, firstTextMs } = trace.result;
  const { systemPrompt, messages, model, temperature, reasoningEffort, maxOutputTokens } = request;
  const { usage } = trace.totals;
  const prompt = systemPrompt === null ? [] : [{ role: "system", text: systemPrompt }];
  return {
    model,
    temperature,
    reasoning_effort: reasoningEffort,
    max_output_tokens: maxOutputTokens,
    messages: [...prompt, ...messages.map((message) => ({ role: message.role, text: textOf(message) }))],
    tool_calls: trace.toolCalls.map(({ name, arguments: given, result, outcome }) => ({
      ...{ tool: name, arguments: readArguments(given) ?? given, result, state: outcome },
    })),
    sources: trace.sources.map(({ n, title, url, page, isCited }) => ({ n, title, url, page, cited: isCited })),
    no_answer: trace.isNothingFound,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    tokens_estimated: usage.estimated,
    cost_micros: trace.costMicros,
    companion_version: version,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    total_ms: Math.round(totalMs),
  };
}
