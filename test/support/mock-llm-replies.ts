/** Replies of the mock provider: the chunks of a chat, and directives in a message that make it misbehave. */
import { createSpeech, limitWords } from "./mock-llm-speech.ts";
import { apiOf, type MockModel, refuse } from "./mock-models.ts";
import { refuseAsResponse } from "./mock-responses-rules.ts";

/** One request as it arrived. */
export interface MockRequest {
  /** 0 for the first request of this mock. */
  index: number;
  method: string;
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The parsed JSON body; empty if it was not JSON. */
  body: Record<string, unknown>;
  /** The last message of the body: what the visitor said. */
  userText: string;
}

/** The running response. Every write is one chunk of the chunked coding, and one write to the socket. */
export interface MockResponse {
  /** Sends a complete response with status, headers and body. */
  send(status: number, headers: Record<string, string>, body: string): void;
  /** Starts a response, by default a 200 event stream; `write` does it implicitly. */
  begin(status?: number, headers?: Record<string, string>): void;
  /** Sends characters as UTF-8, and bytes unchanged. Resolves when the socket has accepted it, or has closed. */
  write(body: string | Uint8Array): Promise<void>;
  /** Ends the body properly. */
  end(): void;
  /** Closes the connection (FIN) without ending the body. */
  cut(): void;
  /** Resets the connection (RST). */
  reset(): void;
  /** Sends bytes outside any HTTP framing. */
  writeRaw(bytes: string): void;
  /** Whether the client has left. */
  readonly isClosed: boolean;
  /** Resolves when the connection has closed or the response has ended. */
  readonly closed: Promise<void>;
}

export type Responder = (request: MockRequest, response: MockResponse) => void | Promise<void>;

export interface ChunkOptions {
  content?: string | null;
  role?: "assistant";
  finishReason?: string | null;
  /** Further fields of the delta. */
  delta?: Record<string, unknown>;
}

/** One `data:` event in OpenAI's own form. */
export function chunk({ content, role, finishReason = null, delta = {} }: ChunkOptions): string {
  return event({
    id: "chatcmpl-CmockQ7YxJ0b1cD2eF3gH4iJ5kL",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "gpt-5-mini-2025-08-07",
    service_tier: "default",
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        delta: { ...(role ? { role } : {}), ...(content === undefined ? {} : { content }), ...delta },
        finish_reason: finishReason,
      },
    ],
    usage: null,
  });
}

export function usageChunk(promptTokens: number, completionTokens: number, reasoningTokens = 0): string {
  return event({
    id: "chatcmpl-CmockQ7YxJ0b1cD2eF3gH4iJ5kL",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "gpt-5-mini-2025-08-07",
    choices: [],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      ...(reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: reasoningTokens } } : {}),
    },
  });
}

export const doneMark = "data: [DONE]\n\n";

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** Each word with its leading white space. */
export function words(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** The usage in the default reply. */
export const mockUsage = { inputTokens: 11, outputTokens: 7 };

/** A whole stream: role, one chunk per delta, finish, usage, `[DONE]`. */
export function wholeStream(deltas: readonly string[], finishReason = "stop"): string[] {
  return [
    chunk({ role: "assistant", content: "" }),
    ...deltas.map((content) => chunk({ content })),
    chunk({ finishReason }),
    usageChunk(mockUsage.inputTokens, mockUsage.outputTokens),
    doneMark,
  ];
}

const errorTexts: Record<number, string> = {
  400: "Unsupported value: that is not possible here.",
  401: "Incorrect API key provided: sk-live-THIS-LOOKS-LIKE-A-SECRET. You can find your API key in your settings.",
  404: "The model `no-such-model` does not exist or you do not have access to it.",
  429: "Rate limit reached for requests.",
};

/** An error body in OpenAI's own form. */
export function errorBody(status: number): string {
  const message = errorTexts[status] ?? "The server had an error while processing your request.";
  return JSON.stringify({ error: { message, type: "mock_error", param: null, code: null } });
}

type Directives = ReadonlyMap<string, string>;

function readDirectives(text: string): Directives {
  return new Map(
    [...text.matchAll(/\[\[([a-z-]+)(?::([^\]]*))?\]\]/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

/** Responds to a message with the default reply, or as its directives demand. See `mock-llm.ts` for the list. */
export function createDirectiveResponder(models: ReadonlyMap<string, MockModel>): Responder {
  const failures = new Map<string, number>();
  return async (request, response) => {
    const directives = readDirectives(request.userText);
    const model = models.get(String(request.body.model));
    const refusal =
      (apiOf(request) === "responses" ? refuseAsResponse(request.body) : null) ??
      (model === undefined ? null : refuse(model, request));
    if (refusal !== null) return response.send(refusal.status, { "Content-Type": "application/json" }, refusal.body);
    const number = (name: string) => (directives.has(name) ? Number(directives.get(name)) : null);
    const status = number("fail");
    if (status !== null) {
      const failed = failures.get(request.userText) ?? 0;
      if (failed < (number("times") ?? Number.POSITIVE_INFINITY)) {
        failures.set(request.userText, failed + 1);
        const retryAfter = directives.get("retry-after");
        const headers = { "Content-Type": "application/json", ...(retryAfter ? { "Retry-After": retryAfter } : {}) };
        return response.send(status, headers, errorBody(status));
      }
    }
    if (directives.has("hang")) return response.closed;
    if (directives.has("html"))
      return response.send(200, { "Content-Type": "text/html" }, "<!DOCTYPE html><p>Hello</p>");
    await stream(request, response, directives, model);
  };
}

async function stream(
  request: MockRequest,
  response: MockResponse,
  directives: Directives,
  model: MockModel | undefined,
): Promise<void> {
  const count = Number(directives.get("words") ?? 0);
  const said = directives.get("say") ?? `You said: ${request.userText.replace(/\s*\[\[.*?\]\]\s*/g, " ").trim()}`;
  const text = count > 0 ? Array.from({ length: count }, (_, index) => `word${index} `).join("") : said;
  const delayMs = Number(directives.get("delay") ?? 0);
  // The trouble starts after this many deltas.
  const trouble = ["cut", "reset", "silence", "garbage", "error"].find((name) => directives.has(name));
  const { deltas, reasoningTokens, isCut } = limitWords(model, request, words(text));
  const sound = trouble === undefined ? deltas : deltas.slice(0, Number(directives.get(trouble)));
  const tokens = model === undefined ? null : { reasoned: reasoningTokens, said: deltas.length };
  const speech = createSpeech(request, model, tokens);
  await response.write(speech.begin().join(""));
  for (const content of sound) {
    if (delayMs > 0) await Bun.sleep(delayMs);
    if (response.isClosed) return;
    await response.write(speech.delta(content));
  }
  if (trouble === "cut") return response.cut();
  if (trouble === "reset") return response.reset();
  if (trouble === "silence") return response.closed;
  if (trouble === "garbage") await response.write("data: {not json\n\n");
  if (trouble === "error") await response.write(speech.error("The server had an error: sk-live-SECRET"));
  if (trouble === undefined) {
    const finishReason = directives.get("finish") ?? (isCut ? "length" : "stop");
    for (const part of speech.end(finishReason, !directives.has("nousage"))) await response.write(part);
  }
  response.end();
}
