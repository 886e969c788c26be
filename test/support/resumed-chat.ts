/** A client in tests that names its messages, loses its streams and comes back. */
import { createParser } from "eventsource-parser";
import type { TestServer } from "./app.ts";
import { chunk, doneMark } from "./mock-llm-replies.ts";

/** A named message as it is sent. */
export interface NamedMessage {
  message: string;
  session_id: string;
  visitor_id?: string;
  message_id: string;
  resume?: boolean;
}

export function newMessage(fields: Partial<NamedMessage> = {}): NamedMessage {
  const ids = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID() };
  return { message: "hello", ...ids, resume: true, ...fields };
}

function addressOf(url: string, token: string, { session_id, visitor_id, message_id }: NamedMessage): URL {
  const address = new URL(`${url}/api/embed/${token}/chat/${message_id}`);
  address.searchParams.set("session_id", session_id);
  if (visitor_id !== undefined) address.searchParams.set("visitor_id", visitor_id);
  return address;
}

export function follow(url: string, token: string, message: NamedMessage, offset?: number, init: RequestInit = {}) {
  const address = addressOf(url, token, message);
  if (offset !== undefined) address.searchParams.set("offset", String(offset));
  return fetch(address, init);
}

export function cancel(url: string, token: string, message: NamedMessage): Promise<Response> {
  return fetch(addressOf(url, token, message), { method: "DELETE" });
}

/** What a stream brought, as a standard parser reads it. */
export interface ReadStream {
  text: string;
  isDone: boolean;
  /** Of each event, `[DONE]` included. */
  ids: (string | undefined)[];
  comments: string[];
}

export function parseStream(raw: string): ReadStream {
  const read: ReadStream = { text: "", isDone: false, ids: [], comments: [] };
  const parser = createParser({
    onEvent({ id, data }) {
      read.ids.push(id);
      if (data === "[DONE]") read.isDone = true;
      else read.text += JSON.parse(data).text;
    },
    onComment: (comment) => read.comments.push(comment.trim()),
  });
  parser.feed(raw);
  return read;
}

export async function readAll(response: Response): Promise<ReadStream> {
  return parseStream(await response.text());
}

/** A stream that is read until a client has had enough, and then lost. */
export async function readUntil(response: Response, isEnough: (read: ReadStream) => boolean): Promise<ReadStream> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let raw = "";
  for (;;) {
    const { done, value } = await reader.read();
    raw += decoder.decode(value, { stream: true });
    const read = parseStream(raw);
    if (done || isEnough(read)) {
      await reader.cancel();
      return read;
    }
  }
}

/** A provider that sends its deltas one by one, when a test triggers them. */
export function sayOnCommand(server: TestServer, deltas: readonly string[]) {
  let said = 0;
  let wake = () => {};
  let released = 0;
  server.mockLlm.respond(async (_, response) => {
    while (said < deltas.length) {
      if (said >= released) {
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), response.closed]);
        if (response.isClosed) return;
        continue;
      }
      await response.write(chunk({ content: deltas[said] ?? "" }));
      said++;
    }
    await response.write(chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  return {
    /** Lets so many more deltas go; all of them by default. */
    say(count = deltas.length) {
      released += count;
      wake();
    },
  };
}
