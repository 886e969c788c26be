/** How the mock's models behave: what they know, what they refuse and in which words, and how long they think. */
import type { MockRequest, MockResponse } from "./mock-llm-replies.ts";

export interface MockModel {
  /** Null for a model that knows no effort. */
  efforts: readonly string[] | null;
  /** Without an effort in the request. */
  defaultEffort: string | null;
  /** `deprecated` is Anthropic's word for never. */
  takesTemperature: "always" | "without-effort" | "never" | "deprecated";
  takesStop: boolean;
  takesSystem: boolean;
  /** Names of the bound in chats. */
  boundNames: readonly ("max_tokens" | "max_completion_tokens")[];
  /** What it thinks unless its effort is `none`; as many of the bound are gone. */
  reasoningTokens: number;
  /** How what it thinks is in the stream: in events or a member of its own, or in tags in a chat's content. */
  showsReasoning: "apart" | "in-tags" | null;
  apis: readonly ("chat" | "responses")[];
  /** Where it may use tools beside an effort; `never` is refused in the words of Ollama, or of OpenRouter. */
  takesTools: "anywhere" | "responses" | "never" | "no-endpoint";
  /** As Mistral does, which also knows no other effort. */
  forbidsExtras: boolean;
  /** `YYYY-MM-DD`; a day that is over makes the model unknown with `isShut`. */
  shutdownDate: string | null;
  isShut: boolean;
}

const plain: MockModel = {
  efforts: null,
  defaultEffort: null,
  takesTemperature: "always",
  takesStop: true,
  takesSystem: true,
  boundNames: ["max_tokens", "max_completion_tokens"],
  reasoningTokens: 0,
  showsReasoning: null,
  apis: ["chat", "responses"],
  takesTools: "anywhere",
  forbidsExtras: false,
  shutdownDate: null,
  isShut: false,
};

const reasoning: MockModel = {
  ...plain,
  efforts: ["none", "low", "medium", "high", "xhigh", "max"],
  defaultEffort: "medium",
  takesTemperature: "without-effort",
  takesStop: false,
  boundNames: ["max_completion_tokens"],
  reasoningTokens: 300,
  takesTools: "responses",
};

/** By what distinguishes them; the ids are the tests' own, so that nothing can depend on a table of models. */
export const mockModels = {
  "knows-no-effort": { ...plain, boundNames: ["max_completion_tokens"], shutdownDate: "2027-01-14" },
  "can-be-quick": reasoning,
  "always-thinks": { ...reasoning, efforts: ["low", "medium", "high"], showsReasoning: "apart" },
  "thinks-minimally": {
    ...reasoning,
    efforts: ["minimal", "low", "medium", "high"],
    takesTemperature: "never",
    shutdownDate: "2026-12-11",
  },
  "thinks-in-tags": { ...plain, reasoningTokens: 20, showsReasoning: "in-tags" },
  "refuses-temperature": { ...plain, takesTemperature: "never" },
  "deprecates-temperature": { ...plain, apis: ["chat"], takesTemperature: "deprecated" },
  "knows-no-tools": { ...plain, takesTools: "never" },
  "routes-no-tools": { ...plain, apis: ["chat"], takesTools: "no-endpoint" },
  "refuses-system": { ...plain, takesSystem: false },
  "only-responses": { ...reasoning, efforts: ["medium", "high"], apis: ["responses"] },
  "only-chats": { ...plain, apis: ["chat"], boundNames: ["max_tokens"] },
  "forbids-extras": { ...plain, apis: ["chat"], boundNames: ["max_tokens"], forbidsExtras: true },
  "was-shut": { ...plain, isShut: true, shutdownDate: "2026-10-01" },
} as const satisfies Record<string, MockModel>;

export interface Refusal {
  status: number;
  body: string;
}

export function apiOf({ path }: Pick<MockRequest, "path">): "chat" | "responses" {
  return path.split("?")[0]?.endsWith("/responses") ? "responses" : "chat";
}

/** The effort in force; null for a model without any. */
export function effortOf(model: MockModel, { body }: Pick<MockRequest, "body">): string | null {
  const asked = body.reasoning_effort ?? (body.reasoning as { effort?: unknown } | undefined)?.effort;
  return typeof asked === "string" ? asked : model.defaultEffort;
}

export function boundOf({ body }: Pick<MockRequest, "body">): number {
  const bound = body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens;
  return typeof bound === "number" ? bound : Number.POSITIVE_INFINITY;
}

/** What the model does not take of this request, one thing at a time as OpenAI does; null if it takes all. */
export function refuse(model: MockModel, request: MockRequest): Refusal | null {
  const { body } = request;
  const api = apiOf(request);
  const id = String(body.model);
  if (model.isShut) {
    const message = `The model \`${id}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`;
    return openAiError(404, message, null, "model_not_found");
  }
  if (!model.apis.includes(api)) return api === "chat" ? onlyResponses() : openAiError(404, "Not Found", null, null);
  if (request.userText.includes("[[filtered]]")) return filtered();
  if (model.forbidsExtras) return forbidExtras(body);
  if (Array.isArray(body.tools) && model.takesTools === "never") {
    return openAiError(400, `registry.ollama.ai/library/${id} does not support tools`, null, null);
  }
  if (Array.isArray(body.tools) && model.takesTools === "no-endpoint") {
    const message = "No endpoints found that support tool use. To learn more about provider routing, read the guide.";
    return { status: 404, body: JSON.stringify({ error: { message, code: 404 } }) };
  }
  return api === "chat" ? refuseChat(model, request, id) : refuseResponse(model, request, id);
}

/** As `GET /v1/models` of OpenAI's: which models there are, and when they end. */
export function answerModels(models: ReadonlyMap<string, MockModel>, response: MockResponse): void {
  const data = [...models].map(([id, { shutdownDate }]) => ({
    id,
    object: "model",
    created: 1_760_000_000,
    owned_by: "system",
    shutdown_date: shutdownDate,
  }));
  response.send(200, { "Content-Type": "application/json" }, JSON.stringify({ object: "list", data }));
}

function refuseChat(model: MockModel, request: MockRequest, id: string): Refusal | null {
  const { body } = request;
  for (const name of ["max_tokens", "max_completion_tokens"] as const) {
    const other = name === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    if (name in body && !model.boundNames.includes(name)) {
      return unsupported(`'${name}' is not supported with this model. Use '${other}' instead.`, name);
    }
  }
  const roles = Array.isArray(body.messages) ? body.messages.map(({ role }) => role) : [];
  if (!model.takesSystem && roles.includes("system")) {
    const message = "'messages[0].role' does not support 'system' with this model.";
    return openAiError(400, `Unsupported value: ${message}`, "messages[0].role", "unsupported_value");
  }
  const effort = effortOf(model, request);
  if ("reasoning_effort" in body) {
    if (model.efforts === null) {
      return openAiError(400, "Unrecognized request argument supplied: reasoning_effort", null, null);
    }
    if (effort === "max" || !model.efforts.includes(String(effort))) {
      const known = listValues(model.efforts.filter((name) => name !== "max"));
      const message = `'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${known}.`;
      return openAiError(400, `Unsupported value: ${message}`, "reasoning_effort", "unsupported_value");
    }
  }
  if (model.takesTools === "responses" && Array.isArray(body.tools) && effort !== "none") {
    const way = "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    const what = `Function tools with reasoning_effort are not supported for ${id} in /v1/chat/completions.`;
    return openAiError(400, `${what} ${way}`, "reasoning_effort", null);
  }
  if ("temperature" in body && model.takesTemperature === "deprecated") {
    return openAiError(400, "`temperature` is deprecated for this model.", null, null);
  }
  if ("temperature" in body && !takesTemperature(model, effort) && body.temperature !== 1) {
    const message = `'temperature' does not support ${body.temperature} with this model. Only the default (1) value is supported.`;
    return openAiError(400, `Unsupported value: ${message}`, "temperature", "unsupported_value");
  }
  if ("stop" in body && !model.takesStop) return unsupported("'stop' is not supported with this model.", "stop");
  return null;
}

function refuseResponse(model: MockModel, request: MockRequest, id: string): Refusal | null {
  if ("include" in request.body && model.efforts === null) {
    return openAiError(400, "Encrypted content is not supported with this model.", null, null);
  }
  const effort = effortOf(model, request);
  const asked = (request.body.reasoning as { effort?: unknown } | undefined)?.effort;
  if (typeof asked === "string") {
    if (model.efforts === null)
      return unsupported("'reasoning.effort' is not supported with this model.", "reasoning.effort");
    if (!model.efforts.includes(asked)) {
      const message = `'${asked}' is not supported with the '${id}' model. Supported values are: ${listValues(model.efforts)}.`;
      return openAiError(400, `Unsupported value: ${message}`, "reasoning.effort", "unsupported_value");
    }
  }
  if ("temperature" in request.body && !takesTemperature(model, effort)) {
    return unsupported("'temperature' is not supported with this model.", "temperature");
  }
  return null;
}

function takesTemperature({ takesTemperature }: MockModel, effort: string | null): boolean {
  return takesTemperature === "always" || (takesTemperature === "without-effort" && (effort ?? "none") === "none");
}

/** 'a', 'b', and 'c' */
function listValues(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
}

function unsupported(message: string, param: string): Refusal {
  return openAiError(400, `Unsupported parameter: ${message}`, param, "unsupported_parameter");
}

function onlyResponses(): Refusal {
  const message = "This model is only supported in v1/responses and not in v1/chat/completions.";
  return openAiError(404, message, "model", null);
}

/** As Azure refuses a message. */
function filtered(): Refusal {
  const message =
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.";
  const results = { violence: { filtered: true, severity: "high" }, jailbreak: { filtered: false, detected: false } };
  const innererror = { code: "ResponsibleAIPolicyViolation", content_filter_result: results };
  const error = { message, type: null, param: "prompt", code: "content_filter", status: 400, innererror };
  return { status: 400, body: JSON.stringify({ error }) };
}

const invalid = { type: "invalid_request_error" };
const mistralNames = new Set(["model", "messages", "stream", "max_tokens", "temperature", "stop", "tools", "top_p"]);

function forbidExtras(body: Record<string, unknown>): Refusal | null {
  const extras = Object.keys(body).filter((name) => !mistralNames.has(name));
  if (extras.length === 0) return null;
  const detail = extras.map((name) => ({
    type: "extra_forbidden",
    loc: ["body", name],
    msg: "Extra inputs are not permitted",
    input: body[name],
  }));
  return {
    status: 422,
    body: JSON.stringify({ object: "error", message: { detail }, ...invalid, param: null, code: null }),
  };
}

export function openAiError(status: number, message: string, param: string | null, code: string | null): Refusal {
  return { status, body: JSON.stringify({ error: { message, ...invalid, param, code } }) };
}
