/** How the mock provider replies unless a test changes it, and directives in a message that make it misbehave. */
import { errorBody, type MockRequest, type MockResponse, type Responder, words } from "./mock-llm-replies.ts";
import { createSpeech, limitWords } from "./mock-llm-speech.ts";
import { apiOf, type MockModel, refuse } from "./mock-models.ts";
import { refuseAsResponse } from "./mock-responses-rules.ts";
import { callsOf, readRounds, refuseToolMessages } from "./mock-tools.ts";

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
      (apiOf(request) === "responses" ? refuseAsResponse(request.body) : refuseToolMessages(request.body)) ??
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
  const calls = callsOf(request);
  const { results } = readRounds(request);
  const spoken = request.userText.replace(/\s*\[\[.*?\]\]\s*/g, " ").trim();
  const reply = results.length > 0 ? `The tools said: ${results.join("; ")}` : `You said: ${spoken}`;
  const said = calls.length > 0 ? (directives.get("before") ?? "") : (directives.get("say") ?? reply);
  const text = count > 0 ? Array.from({ length: count }, (_, index) => `word${index} `).join("") : said;
  const delayMs = Number(directives.get("delay") ?? 0);
  // The trouble starts after this many deltas.
  const trouble = ["cut", "reset", "silence", "garbage", "error"].find((name) => directives.has(name));
  const { deltas, reasoningTokens, isCut } = limitWords(model, request, words(text));
  const tokens = model === undefined ? null : { reasoned: reasoningTokens, said: deltas.length };
  const speech = createSpeech(request, model, tokens);
  await response.write(speech.begin().join(""));
  const parts = [...deltas.map((content) => speech.delta(content)), ...calls.flatMap((call) => speech.call(call))];
  const sound = trouble === undefined ? parts : parts.slice(0, Number(directives.get(trouble)));
  for (const part of sound) {
    if (delayMs > 0) await Bun.sleep(delayMs);
    if (response.isClosed) return;
    await response.write(part);
  }
  if (trouble === "cut") return response.cut();
  if (trouble === "reset") return response.reset();
  if (trouble === "silence") return response.closed;
  if (trouble === "garbage") await response.write("data: {not json\n\n");
  if (trouble === "error") await response.write(speech.error("The server had an error: sk-live-SECRET"));
  if (trouble === undefined) {
    const finishReason = directives.get("finish") ?? (isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop");
    for (const part of speech.end(finishReason, !directives.has("nousage"))) await response.write(part);
  }
  response.end();
}
