/** The inbox's event stream, as an iterator that outlives its connections: no change is missed over a cut. */
import { CompanionError } from "../reply-stream/errors.ts";
import type { OpenedResponse } from "../reply-stream/request.ts";
import { toCompaniondError } from "./errors.ts";
import type { Conversation, Message } from "./generated/wire.ts";
import type { CallOptions, Query, Transport } from "./transport.ts";

export interface InboxQuery {
  /** Whether conversations come with their newest messages. */
  include_content?: boolean | undefined;
  /** For whose `unread`: the `as.id`, or else `as.name`, that you call with. */
  as?: string | undefined;
  /** The `id` of the last event that you have had; left out: every conversation outside plain talk comes first. */
  after?: string | undefined;
}

export type InboxEvent =
  /** As it stands now. `id`: for `after`. */
  | { type: "conversation"; id: string; conversation: Conversation & { messages?: Message[] } }
  | {
      type: "typing";
      conversation_id: string;
      typing: boolean;
      who: { type: "visitor" | "person"; id: string | null; name: string | null };
    }
  /** `available`: whether your own switch is on. */
  | { type: "presence"; members: { id: string; name: string | null }[]; available: boolean };

/** Clients of a server that restarts come back spread over this. */
const firstWaitMs = 3000;
const maxWaitMs = 30_000;

export async function* followInbox(
  transport: Transport,
  { after, ...query }: InboxQuery,
  options: CallOptions,
): AsyncGenerator<InboxEvent, void, undefined> {
  let lastId = after;
  let isOpened = false;
  for (let tries = 0; ; tries++) {
    let askedMs = 0;
    try {
      const opened = await open(transport, query, lastId, isOpened ? { ...options, maxRetries: 0 } : options);
      isOpened = true;
      for await (const event of readEvents(opened)) {
        tries = 0;
        if (event.type === "conversation") lastId = event.id;
        yield event;
      }
    } catch (error) {
      if (!isOpened || !(error instanceof CompanionError) || !canReturn(error)) throw toCompaniondError(error);
      askedMs = error.retryAfterMs ?? 0;
    }
    const waitMs = tries === 0 ? Math.random() * firstWaitMs : Math.min(maxWaitMs, 1000 * 2 ** (tries - 1));
    await transport.sleep(Math.max(askedMs, waitMs), options.signal);
  }
}

function open(transport: Transport, query: Query, lastId: string | undefined, options: CallOptions) {
  const headers = { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
  return transport.open({ method: "GET", path: ["api", "inbox", "events"], query, headers }, options);
}

/** Not where the right is gone, or the call is wrong. */
function canReturn({ isCut, status }: CompanionError): boolean {
  return isCut || status === 429 || status >= 500;
}

/** Ends with the body. Closes the response when it is left. */
async function* readEvents({ response, next, close }: OpenedResponse): AsyncGenerator<InboxEvent, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let fields: Record<string, string> = {};
  try {
    // A page of a proxy, say.
    if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
      throw new CompanionError("bad_response");
    for (;;) {
      const part = reader === undefined ? { done: true as const, value: undefined } : await next(reader.read());
      if (part.done) return;
      const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [, name = "", value = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
        if (name !== "") fields[name] = value;
        if (line !== "") continue;
        const event = toEvent(fields);
        fields = {};
        if (event !== null) yield event;
      }
    }
  } finally {
    close();
  }
}

/** Null for what this client does not know. */
function toEvent({ event, data, id }: Record<string, string>): InboxEvent | null {
  if (data === undefined) return null;
  try {
    const sent = JSON.parse(data);
    if (event === "conversation" && id !== undefined) return { type: event, id, conversation: sent };
    return event === "typing" || event === "presence" ? { type: event, ...sent } : null;
  } catch (cause) {
    throw new CompanionError("bad_response", { cause });
  }
}
