/** The owner's test chat, as the widget's requests are answered by it; the trace of each reply goes to the inspector. */
import { ApiError, send, toSentence } from "../lib/api.ts";
import type { ToolCall } from "../lib/types.ts";
import type { PreviewElement } from "../widget-element.ts";

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
  /** Those that the model got, the best first. */
  sources: { n: number; title: string; url: string | null; page: number | null; cited: boolean }[];
  first_text_ms: number | null;
  total_ms: number;
}

/** What came of one message. */
export interface Reply {
  id: number;
  message: string;
  trace?: Trace;
  /** Why there is no reply, or no whole one: as owners get to know it. */
  problem?: string;
}

/** Whether the draft answers, instead of what is live; or the number of the version that does. */
export interface Answerer {
  draft?: true;
  version?: number;
}

type WidgetFetch = NonNullable<PreviewElement["fetch"]>;
interface Turn {
  role: "user" | "assistant";
  text: string;
}

/** As many as the server accepts. */
const maxHistory = 200;

/** `onReply` is given each reply as it begins, and again whenever more of it is known. */
export function answerTrials(companionId: string, answerer: Answerer, onReply: (reply: Reply) => void): WidgetFetch {
  const histories = new Map<string, Turn[]>();
  let count = 0;

  return async (input, init) => {
    if (init?.method !== "POST" || !String(input).endsWith("/chat")) return refuse(404, { code: "not_found" });
    const { message, session_id: session } = JSON.parse(String(init.body)) as { message: string; session_id: string };
    const history = histories.get(session) ?? [];
    histories.set(session, history);
    let reply: Reply = { id: ++count, message };
    const note = (more: Partial<Reply>) => {
      reply = { ...reply, ...more };
      onReply(reply);
    };
    note({});
    try {
      const response = await send("POST", `/api/companions/${companionId}/test-chat`, {
        body: { ...answerer, message, history: history.slice(-maxHistory), trace: true },
        ...(init.signal && { signal: init.signal }),
      });
      let text = "";
      const reading = new TransformStream<string, string>({
        transform(line, controller) {
          if (line.startsWith("data: {")) text += JSON.parse(line.slice("data: ".length)).text;
          else if (line.startsWith(": failure ")) note({ problem: JSON.parse(line.slice(": failure ".length)).detail });
          else if (line.startsWith(": trace ")) {
            const trace: Trace = JSON.parse(line.slice(": trace ".length));
            note({ trace });
            const sources = trace.sources.filter(({ cited }) => cited);
            if (sources.length > 0) controller.enqueue(`event: sources\ndata: ${JSON.stringify({ sources })}\n\n`);
          } else if (line === "data: [DONE]") {
            history.push({ role: "user", text: message }, { role: "assistant", text });
          }
          controller.enqueue(`${line}\n`);
        },
      });
      const body = response.body
        ?.pipeThrough(new TextDecoderStream())
        .pipeThrough(splitLines())
        .pipeThrough(reading)
        .pipeThrough(new TextEncoderStream());
      return new Response(body ?? null, { headers: { "content-type": "text/event-stream" } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      note({ problem: toSentence(error) });
      if (error instanceof ApiError && error.status > 0) return refuse(error.status, error.problem);
      throw error;
    }
  };
}

function refuse(status: number, problem: object): Response {
  return Response.json(problem, { status });
}

function splitLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) controller.enqueue(line);
    },
    flush(controller) {
      if (rest !== "") controller.enqueue(rest);
    },
  });
}
