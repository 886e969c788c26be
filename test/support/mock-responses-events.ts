/** The events of one response as OpenAI's Responses API sends them. */
import type { MockRequest } from "./mock-llm-replies.ts";
import { sealedMark } from "./mock-tools.ts";

export type MockItem =
  | { type: "reasoning"; summary?: readonly string[]; text?: readonly string[] }
  | { type: "message"; deltas: readonly string[]; phase?: "commentary" | "final_answer"; isRefusal?: boolean }
  | { type: "function_call"; name: string; arguments: string; callId?: string };

export type MockEnd = { status: "completed" } | { status: "incomplete"; reason: string } | MockFailure;
type MockFailure = { status: "failed"; code: string; message: string };

export interface MockCounts {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
}

type Fields = Record<string, unknown>;

/** Writes the events of one response, in the order in which its items come. */
export class ResponsesScript {
  readonly #request: Fields;
  readonly #hasPadding: boolean;
  readonly #output: Fields[] = [];
  #sequence = 0;

  constructor({ body }: Pick<MockRequest, "body">) {
    this.#request = body;
    const options = body.stream_options as { include_obfuscation?: boolean } | undefined;
    this.#hasPadding = options?.include_obfuscation !== false;
  }

  begin(): string[] {
    const response = this.#response("in_progress", {});
    return [this.event("response.created", { response }), this.event("response.in_progress", { response })];
  }

  /** OpenAI sends it undocumented while a model thinks for long. */
  keepalive(): string {
    return this.event("keepalive", {});
  }

  /** All events of an item, one string each. */
  item(item: MockItem): string[] {
    const place = { output_index: this.#output.length };
    if (item.type === "reasoning") return this.#reasoning(item, place);
    if (item.type === "message") {
      const { opening, delta, closing } = this.message(item);
      return [...opening, ...item.deltas.map(delta), ...closing()];
    }
    const { name, callId = `call_mock${place.output_index}` } = item;
    const call = { id: `fc_mock${place.output_index}`, type: "function_call", call_id: callId, name };
    const at = { item_id: call.id, ...place };
    this.#output.push({ ...call, status: "completed", arguments: item.arguments });
    return [
      this.#added(place, { ...call, status: "in_progress", arguments: "" }),
      ...(item.arguments.match(/[\s\S]{1,5}/g) ?? []).map((delta) =>
        this.event("response.function_call_arguments.delta", { ...at, delta, ...this.#padding() }),
      ),
      this.event("response.function_call_arguments.done", { ...at, arguments: item.arguments }),
      this.#done(place),
    ];
  }

  /** A message in parts, for replies that are paced or break off. */
  message({ phase, isRefusal = false }: { phase?: string; isRefusal?: boolean }) {
    const place = { output_index: this.#output.length };
    const message = { id: `msg_mock${place.output_index}`, type: "message", role: "assistant" };
    const named = phase === undefined ? message : { ...message, phase };
    const at = { item_id: message.id, ...place, content_index: 0 };
    const logprobs = isRefusal ? {} : { logprobs: [] };
    const word = isRefusal ? "refusal" : "output_text";
    let text = "";
    const part = () =>
      isRefusal ? { type: "refusal", refusal: text } : { type: "output_text", annotations: [], logprobs: [], text };
    const opening = [
      this.#added(place, { ...named, status: "in_progress", content: [] }),
      this.event("response.content_part.added", { ...at, part: part() }),
    ];
    this.#output.push({ ...named, status: "in_progress", content: [] });
    return {
      opening,
      delta: (delta: string): string => {
        text += delta;
        return this.event(`response.${word}.delta`, { ...at, delta, ...logprobs, ...this.#padding() });
      },
      closing: (): string[] => {
        const whole = part();
        this.#output[place.output_index] = { ...named, status: "completed", content: [whole] };
        return [
          this.event(`response.${word}.done`, { ...at, ...(isRefusal ? { refusal: text } : { text, ...logprobs }) }),
          this.event("response.content_part.done", { ...at, part: whole }),
          this.#done(place),
        ];
      },
    };
  }

  end(end: MockEnd, counts: MockCounts | null): string {
    const { status } = end;
    const response = this.#response(status, {
      usage: counts === null ? null : toUsage(counts),
      error: end.status === "failed" ? { code: end.code, message: end.message } : null,
      incomplete_details: end.status === "incomplete" ? { reason: end.reason } : null,
      ...(status === "completed" ? { completed_at: 1_790_000_002 } : {}),
    });
    return this.event(`response.${status}`, { response });
  }

  event(type: string, fields: Fields): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })}\n\n`;
  }

  /** The whole response, as a server answers that was not asked to stream. */
  document(counts: MockCounts): Fields {
    return this.#response("completed", { usage: toUsage(counts) });
  }

  #reasoning({ summary = [], text = [] }: Extract<MockItem, { type: "reasoning" }>, place: Fields): string[] {
    const id = `rs_mock${this.#output.length}`;
    const at = { item_id: id, ...place };
    const { include } = this.#request;
    const isSealed = Array.isArray(include) && include.includes("reasoning.encrypted_content");
    const sealed = isSealed ? { encrypted_content: `${sealedMark}${id}` } : {};
    const events = [this.#added(place, { id, type: "reasoning", summary: [] })];
    for (const [index, words] of summary.entries()) {
      const here = { ...at, summary_index: index };
      const part = { type: "summary_text", text: words };
      events.push(
        this.event("response.reasoning_summary_part.added", { ...here, part: { ...part, text: "" } }),
        this.event("response.reasoning_summary_text.delta", { ...here, delta: words, ...this.#padding() }),
        this.event("response.reasoning_summary_text.done", { ...here, text: words }),
        this.event("response.reasoning_summary_part.done", { ...here, part }),
      );
    }
    const shown = {
      id,
      type: "reasoning",
      ...sealed,
      summary: summary.map((words) => ({ type: "summary_text", text: words })),
    };
    this.#output.push(shown);
    if (text.length > 0) {
      const here = { ...at, content_index: 0 };
      const whole = text.join("");
      const part = { type: "reasoning_text", text: whole };
      this.#output[this.#output.length - 1] = { ...shown, content: [part] };
      events.push(
        this.event("response.content_part.added", { ...here, part: { ...part, text: "" } }),
        ...text.map((delta) => this.event("response.reasoning_text.delta", { ...here, delta, ...this.#padding() })),
        this.event("response.reasoning_text.done", { ...here, text: whole }),
        this.event("response.content_part.done", { ...here, part }),
      );
    }
    events.push(this.#done(place));
    return events;
  }

  #added(place: Fields, item: Fields): string {
    return this.event("response.output_item.added", { ...place, item });
  }

  #done(place: Fields): string {
    return this.event("response.output_item.done", { ...place, item: this.#output.at(-1) });
  }

  #padding(): Fields {
    return this.#hasPadding ? { obfuscation: "aB3dE5fG7hJ9kL1" } : {};
  }

  #response(status: string, fields: Fields): Fields {
    const { instructions = null, max_output_tokens: bound = null, model, reasoning, temperature = 1 } = this.#request;
    const { store = true, tools = [], text } = this.#request;
    return {
      id: "resp_mock68a1f2c35f0c8197",
      object: "response",
      created_at: 1_790_000_000,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions,
      max_output_tokens: bound,
      max_tool_calls: null,
      model,
      output: this.#output,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null, ...(reasoning as Fields | undefined) },
      safety_identifier: null,
      service_tier: "default",
      store,
      temperature,
      text: { format: { type: "text" }, verbosity: "medium", ...(text as Fields | undefined) },
      tool_choice: "auto",
      tools,
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      usage: null,
      user: null,
      metadata: {},
      ...fields,
    };
  }
}

function toUsage(counts: MockCounts): Fields {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

/** A whole response: its items, and its end. */
export function wholeResponse(
  body: Record<string, unknown>,
  items: readonly MockItem[],
  end: MockEnd = { status: "completed" },
  counts: MockCounts | null = { inputTokens: 11, outputTokens: 7 },
): string[] {
  const script = new ResponsesScript({ body });
  return [...script.begin(), ...items.flatMap((item) => script.item(item)), script.end(end, counts)];
}
