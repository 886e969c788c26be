/** The mock provider's request parser: splits the bytes of a connection into requests. */
import type { Socket } from "node:net";
import type { MockRequest } from "./mock-llm-replies.ts";
import { isResult, listItems } from "./mock-tools.ts";

export function readRequests(socket: Socket, onRequest: (request: Omit<MockRequest, "index">) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  /** Fewer bytes need no new parse: a large body arrives in hundreds of pieces. */
  let needed = 0;
  socket.on("data", (bytes) => {
    pieces.push(Buffer.from(bytes));
    length += bytes.length;
    while (length > 0 && length >= needed) {
      const received = Buffer.concat(pieces.splice(0));
      pieces.push(received);
      const headEnd = received.indexOf("\r\n\r\n");
      if (headEnd === -1) return;
      const [requestLine = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
      );
      const bodyEnd = headEnd + 4 + Number(headers["content-length"] ?? 0);
      needed = bodyEnd;
      if (received.length < bodyEnd) return;
      const [method = "", path = ""] = requestLine.split(" ");
      const body = parseBody(received.toString("utf8", headEnd + 4, bodyEnd));
      pieces[0] = received.subarray(bodyEnd);
      length -= bodyEnd;
      needed = 0;
      onRequest({ method, path, headers, body, userText: readUserText(body) });
    }
  });
}

function parseBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * The last message of a chat, or of the input of a response, which may be a text or parts; where the last one brings what
 * a tool has answered, that of the user before it.
 */
function readUserText(body: Record<string, unknown>): string {
  const said = body.messages ?? body.input;
  const items = listItems(body);
  const asked = isResult(items.at(-1) ?? {}) ? items.findLast(({ role }) => role === "user") : undefined;
  const last: unknown = asked ?? (Array.isArray(said) ? said.at(-1) : said);
  const content = typeof last === "object" && last !== null && "content" in last ? last.content : last;
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map(({ text }) => text ?? "").join("");
}
