/** The chat route, for the API document. */
import { type ApiOperation, embedTokenParam, eventStream } from "../../http/api-description.ts";
import { chatRequest } from "./model.ts";

export const chatApi: ApiOperation[] = [
  {
    id: "chat",
    method: "POST",
    path: "/api/embed/{token}/chat",
    tag: "Embed",
    summary: "Send a message and stream the reply",
    description:
      "The status is held back until the reply's first text, so a failing provider is a true 502. Turns of one " +
      "conversation run in order; a fourth waiting one is 429, and so is one too many of an address at once. Unknown fields are ignored.",
    access: "embed",
    params: { token: embedTokenParam },
    body: { schema: chatRequest.schema },
    answers: { 200: { ...eventStream, headers: ["X-Session-Id"] } },
    errors: ["quota_exceeded", "upstream_error"],
  },
];
