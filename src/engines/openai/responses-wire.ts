/** The Responses API: `POST {base_url}/responses`. */
import { buildResponsesBody } from "./responses-body.ts";
import { createResponsesReader } from "./responses-reader.ts";
import type { Wire } from "./wire.ts";

/** `leastOutputTokens`: 16 at OpenAI, which refuses less; 1 elsewhere. */
export function createResponsesWire(leastOutputTokens: number): Wire {
  return {
    name: "responses",
    path: "/responses",
    buildBody: (request, plan) => buildResponsesBody(request, plan, leastOutputTokens),
    createReader: createResponsesReader,
  };
}
