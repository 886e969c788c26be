/** A chat completion as OpenAI's clients ask for it: what is read of it, and what is refused instead of ignored. */
import type { GivenPrompt } from "../../core/turns/turn-start.ts";
import type { HistoryMessage } from "../../domain/conversation.ts";
import { textParts } from "../../domain/conversation.ts";
import { AppError, type FieldError, invalidFields } from "../../domain/errors.ts";
import { maxListedErrors } from "../../http/schemas/schema.ts";

export interface CompletionRequest {
  /** Which companion, as sent. */
  readonly model: string;
  /** Null if none was named. */
  readonly user: string | null;
  readonly isStreamed: boolean;
  /** Whether the stream ends with a chunk of usage. */
  readonly includesUsage: boolean;
  readonly prompt: GivenPrompt;
}

const maxStops = 4;

type Sent = Readonly<Record<string, unknown>>;

/** Gathers faults, and goes on without what is at fault. */
class Reader {
  readonly faults: FieldError[] = [];

  constructor(private readonly body: Sent) {}

  fail(param: string, detail: string): void {
    this.faults.push({ param, detail });
  }

  /** Whether nothing more needs to be checked: a list may have half a million entries at fault. */
  get isFull(): boolean {
    return this.faults.length >= maxListedErrors;
  }

  /** Null where it is left out, null, or at fault. */
  value<Value>(name: string, is: (value: unknown) => value is Value, problem: string): Value | null {
    const value = this.body[name] ?? null;
    if (value === null) return null;
    if (is(value)) return value;
    this.fail(name, problem);
    return null;
  }

  text(name: string): string | null {
    return this.value(name, isText, textProblem);
  }

  bool(name: string): boolean {
    return this.value(name, (value) => typeof value === "boolean", "Must be true or false.") ?? false;
  }

  /** What would be ignored, although the caller relies on it. */
  refuse(name: string, detail: string, isHarmless: (value: unknown) => boolean): void {
    const value = this.body[name] ?? null;
    if (value !== null && !isHarmless(value)) this.fail(name, detail);
  }
}

const textProblem = "Must be well-formed text without NUL characters.";

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const noTools = "Tools are not offered here.";

/** Throws `invalid_request` with all that is at fault. */
export function readCompletion(sent: unknown): CompletionRequest {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    throw new AppError("invalid_request", "The request body must be a JSON object.");
  }
  const body = sent as Sent;
  const reader = new Reader(body);
  refuseUnkept(reader, body);
  const model = reader.text("model");
  if (model === null && (body.model ?? null) === null) reader.fail("model", "Send the id of a companion.");
  const isStreamed = reader.bool("stream");
  const request = {
    model: model ?? "",
    user: reader.text("user"),
    isStreamed,
    includesUsage: readStreamOptions(reader, isStreamed),
    prompt: { ...readMessages(reader, body.messages), ...readBounds(reader), stop: readStops(reader) },
  };
  if (reader.faults.length > 0) throw invalidFields(reader.faults);
  return request;
}

function refuseUnkept(reader: Reader, { tool_choice }: Sent): void {
  reader.refuse("n", "Only one choice is made: send 1, or leave it out.", (value) => value === 1);
  reader.refuse("tools", noTools, isEmptyList);
  reader.refuse("functions", noTools, isEmptyList);
  reader.refuse("tool_choice", noTools, () => tool_choice === "none" || tool_choice === "auto");
  reader.refuse("function_call", noTools, (value) => value === "none" || value === "auto");
  reader.refuse(
    "response_format",
    "Only text is answered.",
    (value) => typeof value === "object" && (value as Sent).type === "text",
  );
  reader.refuse("logprobs", "Probabilities are not returned.", (value) => value === false);
  reader.refuse("top_logprobs", "Probabilities are not returned.", (value) => value === 0);
  reader.refuse(
    "modalities",
    "Only text is answered.",
    (value) => Array.isArray(value) && value.every((one) => one === "text"),
  );
  reader.refuse("audio", "Only text is answered.", () => false);
  reader.refuse("web_search_options", "There is no search here.", () => false);
}

function readStreamOptions(reader: Reader, isStreamed: boolean): boolean {
  const isOptions = (value: unknown): value is Sent => typeof value === "object" && !Array.isArray(value);
  const options = reader.value("stream_options", isOptions, "Must be an object.");
  if (options === null) return false;
  if (!isStreamed) reader.fail("stream_options", "Allowed only where stream is true.");
  const includes = options.include_usage ?? false;
  if (typeof includes !== "boolean") reader.fail("stream_options.include_usage", "Must be true or false.");
  return includes === true;
}

function readBounds(reader: Reader): Pick<GivenPrompt, "temperature" | "maxOutputTokens"> {
  const isTemperature = (value: unknown) => typeof value === "number" && value >= 0 && value <= 2;
  const isBound = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
  const [number, bound] = ["Must be a number of at least 0 and at most 2.", "Must be a whole number of at least 1."];
  const bounds = ["max_tokens", "max_completion_tokens"].map((name) =>
    reader.value(name, (value): value is number => isBound(value), bound),
  );
  const given = bounds.filter((one) => one !== null);
  return {
    temperature: reader.value("temperature", (value): value is number => isTemperature(value), number),
    maxOutputTokens: given.length === 0 ? null : Math.min(...given),
  };
}

function readStops(reader: Reader): readonly string[] {
  const isStop = (value: unknown): value is string => isText(value) && value !== "";
  const isStops = (value: unknown): value is string | readonly string[] =>
    isStop(value) || (Array.isArray(value) && value.length <= maxStops && value.every(isStop));
  const stop = reader.value("stop", isStops, `Must be a text or a list of at most ${maxStops}, none of them empty.`);
  return stop === null ? [] : [stop].flat();
}

const roles = ["system", "developer", "user", "assistant"];

function readMessages(reader: Reader, sent: unknown): Pick<GivenPrompt, "instructions" | "messages"> {
  const instructions: string[] = [];
  const messages: HistoryMessage[] = [];
  if (!Array.isArray(sent) || sent.length === 0) {
    reader.fail("messages", "Must be a list of at least one message.");
    return { instructions, messages };
  }
  for (const [index, message] of sent.entries()) {
    if (reader.isFull) break;
    const param = `messages[${index}]`;
    const { role, content, tool_calls } = (typeof message === "object" && message !== null ? message : {}) as Sent;
    if (!roles.includes(role as string)) reader.fail(`${param}.role`, `Must be one of: ${roles.join(", ")}.`);
    if ((tool_calls ?? null) !== null && !isEmptyList(tool_calls)) reader.fail(`${param}.tool_calls`, noTools);
    const text = readContent(reader, `${param}.content`, content);
    if (role === "system" || role === "developer") instructions.push(text);
    else messages.push({ role: role === "assistant" ? "assistant" : "user", parts: textParts(text) });
  }
  return { instructions, messages };
}

function readContent(reader: Reader, param: string, content: unknown): string {
  if (isText(content)) return content;
  if (!Array.isArray(content)) {
    reader.fail(param, typeof content === "string" ? textProblem : "Must be text, or a list of parts of text.");
    return "";
  }
  let text = "";
  for (const [index, part] of content.entries()) {
    if (reader.isFull) break;
    const sent = (typeof part === "object" && part !== null ? part : {}) as Sent;
    if (sent.type !== "text") reader.fail(`${param}[${index}].type`, "Only text is read: no images, sounds or files.");
    else if (isText(sent.text)) text += sent.text;
    else reader.fail(`${param}[${index}].text`, textProblem);
  }
  return text;
}
