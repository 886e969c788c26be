/** The owner's test chat: streams a reply, and reads the trace that the server sends with it. */
import { ApiError, send } from "../lib/api.ts";
import type { ToolCall } from "../lib/types.ts";

export interface Turn {
  role: "user" | "assistant";
  text: string;
}

export interface Trace {
  model: string;
  temperature: number | null;
  reasoning_effort: string | null;
  max_output_tokens: number;
  messages: { role: "system" | "user" | "assistant"; text: string }[];
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  tokens_estimated: boolean;
  /** Null: the model has no price. */
  cost_micros: number | null;
  /** Null: a draft's. */
  companion_version: number | null;
  no_answer: boolean;
  tool_calls: Pick<ToolCall, "tool" | "arguments" | "result" | "state">[];
  /** Those that the model got. */
  sources: { n: number; title: string; url: string | null; page: number | null; cited: boolean }[];
  first_text_ms: number | null;
  total_ms: number;
}

export interface TestChat {
  companionId: string;
  message: string;
  history: readonly Turn[];
  /** Whether its draft answers, in place of what is live; or the number of the version that does. */
  draft?: boolean;
  version?: number;
  signal: AbortSignal;
  onText(fragment: string): void;
  onTrace(trace: Trace): void;
}

/** As many as the server accepts. */
const maxHistory = 200;

/** Resolves with whether the reply is complete; rejects with `ApiError` if it did not begin. */
export async function runTestChat({
  companionId,
  message,
  history,
  signal,
  onText,
  onTrace,
  ...answerer
}: TestChat): Promise<boolean> {
  const response = await send("POST", `/api/companions/${companionId}/test-chat`, {
    body: { ...answerer, message, history: history.slice(-maxHistory), trace: true },
    signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "data: [DONE]") return true;
      if (line.startsWith("data: ")) onText(JSON.parse(line.slice("data: ".length)).text);
      else if (line.startsWith(": failure ")) {
        throw new ApiError(JSON.parse(line.slice(": failure ".length)).detail, 502, "upstream_error");
      } else if (line.startsWith(": trace ")) onTrace(JSON.parse(line.slice(": trace ".length)));
    }
  }
  return false;
}
