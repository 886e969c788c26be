/** How the mock puts a reply, on either of the two APIs: the same words in other events. */
import {
  chunk,
  doneMark,
  event,
  type MockRequest,
  type MockResponse,
  mockUsage,
  usageChunk,
  words,
} from "./mock-llm-replies.ts";
import { apiOf, boundOf, effortOf, type MockModel } from "./mock-models.ts";
import { ResponsesScript } from "./mock-responses-events.ts";
import { callsOf, type MockCall, readRounds } from "./mock-tools.ts";

/** One reply, event by event; each text is one write. */
export interface Speech {
  begin(): string[];
  delta(text: string): string;
  /** After the text. */
  call(call: MockCall): string[];
  /** An error object in the middle. */
  error(message: string): string;
  end(finishReason: string, hasUsage: boolean): string[];
}

/** A model's output, as far as its bound allows: thoughts come first. */
export function limitWords(
  model: MockModel | undefined,
  request: MockRequest,
  deltas: string[],
): { deltas: string[]; reasoningTokens: number; isCut: boolean } {
  if (model === undefined) return { deltas, reasoningTokens: 0, isCut: false };
  const bound = boundOf(request);
  const thinks = model.efforts === null || effortOf(model, request) !== "none";
  const reasoningTokens = Math.min(thinks ? model.reasoningTokens : 0, bound);
  const said = deltas.slice(0, bound - reasoningTokens);
  return { deltas: said, reasoningTokens, isCut: said.length < deltas.length };
}

/** `tokens`: a word is a token, for a model that is known; null for the usage of any other. */
export function createSpeech(
  request: MockRequest,
  model: MockModel | undefined,
  tokens: { reasoned: number; said: number } | null,
): Speech {
  const usage = {
    inputTokens: tokens === null ? mockUsage.inputTokens : words(JSON.stringify(request.body)).length,
    outputTokens: tokens === null ? mockUsage.outputTokens : tokens.reasoned + tokens.said,
    reasoningTokens: tokens?.reasoned ?? 0,
  };
  const shown = usage.reasoningTokens > 0 ? (model?.showsReasoning ?? null) : null;
  if (apiOf(request) === "chat") return chatSpeech(usage, shown);
  return responsesSpeech(request, usage, shown === null ? [] : thoughts);
}

/** Answers with the message, or what tools have answered, one word a read, on the API that was asked; or calls those. */
export async function repeatWords(request: MockRequest, response: MockResponse): Promise<void> {
  const speech = createSpeech(request, undefined, null);
  const calls = callsOf(request);
  const { results } = readRounds(request);
  const said = results.length > 0 ? `The tools said: ${results.join("; ")}` : `You said: ${request.userText}`;
  const begun = speech.begin();
  const deltas =
    calls.length > 0
      ? calls.flatMap((call) => speech.call(call))
      : said.split(/(?<= )/).map((word) => speech.delta(word));
  for (const part of [...begun, ...deltas, ...speech.end(calls.length > 0 ? "tool_calls" : "stop", true)]) {
    await response.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

const thoughts = ["Let me see", " what that means."];

/** Anywhere, as tokens end. */
export function splitArguments(args: string): string[] {
  return args.match(/[\s\S]{1,5}/g) ?? [];
}

type Usage = typeof mockUsage & { reasoningTokens: number };

function chatSpeech(usage: Usage, shown: MockModel["showsReasoning"]): Speech {
  const apart = shown === "apart" ? thoughts : [];
  let called = 0;
  const inTags = shown === "in-tags" ? ["<thi", "nk>\n", ...thoughts, "\n</thi", "nk>\n\n"] : [];
  return {
    begin: () => [
      chunk({ role: "assistant", content: "" }),
      ...apart.map((text) => chunk({ delta: { reasoning_content: text } })),
      ...inTags.map((content) => chunk({ content })),
    ],
    delta: (content) => chunk({ content }),
    call({ id, name, arguments: args }) {
      const index = called++;
      const begun = { index, id, type: "function", function: { name, arguments: "" } };
      return [
        chunk({ delta: { tool_calls: [begun] } }),
        ...splitArguments(args).map((part) =>
          chunk({ delta: { tool_calls: [{ index, function: { arguments: part } }] } }),
        ),
      ];
    },
    error: (message) => event({ error: { message, type: "server_error" } }),
    end: (finishReason, hasUsage) => [
      chunk({ finishReason }),
      ...(hasUsage ? [usageChunk(usage.inputTokens, usage.outputTokens, usage.reasoningTokens)] : []),
      doneMark,
    ],
  };
}

function responsesSpeech(request: MockRequest, usage: Usage, summary: readonly string[]): Speech {
  const script = new ResponsesScript(request);
  let message: ReturnType<ResponsesScript["message"]> | null = null;
  return {
    begin: () => [...script.begin(), ...(usage.reasoningTokens > 0 ? script.item({ type: "reasoning", summary }) : [])],
    delta(text) {
      if (message !== null) return message.delta(text);
      message = script.message({});
      return message.opening.join("") + message.delta(text);
    },
    call({ id, name, arguments: args }) {
      const closing = message?.closing() ?? [];
      message = null;
      const item = { type: "function_call", name, arguments: args, callId: id } as const;
      return [...closing, ...script.item(item)];
    },
    error: (text) => script.event("error", { error: { type: "server_error", code: null, message: text, param: null } }),
    end(finishReason, hasUsage) {
      const closing = message?.closing() ?? [];
      const counts = hasUsage ? usage : null;
      if (finishReason === "stop" || finishReason === "tool_calls")
        return [...closing, script.end({ status: "completed" }, counts)];
      const reason = finishReason === "length" ? "max_output_tokens" : finishReason;
      return [...closing, script.end({ status: "incomplete", reason }, counts)];
    },
  };
}
