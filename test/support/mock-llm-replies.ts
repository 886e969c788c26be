/** The vocabulary of the mock provider: its requests and responses, the chunks of a chat, and error bodies. */

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
  /** The last message of the body: the visitor's. */
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
