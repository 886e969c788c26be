/** Event streams as iterators that outlive their connections: nothing is missed over a cut. */
import { CompanionError } from "../reply-reader/errors.ts";
import type { OpenedResponse } from "../reply-reader/request.ts";
import { toCompaniondError } from "./errors.ts";
import type {
  ChatState,
  InboxConversation,
  InboxPresence,
  InboxTyping,
  ListenForVisitorQuery,
  LiveMessage,
} from "./generated/wire.ts";
import type { CallOptions, Query, Transport } from "./transport.ts";

export interface InboxQuery {
  /** Whether conversations come with their newest messages. */
  include_content?: boolean | undefined;
  /** Their first and last words, on one line each. */
  include?: "excerpts" | undefined;
  /** For whose `unread`: the `as.id`, or else `as.name`, that you call with. */
  as?: string | undefined;
  /** The `id` of the last event that you have had; left out: every conversation outside plain talk comes first. */
  after?: string | undefined;
}

export type InboxEvent =
  /** As it stands now. `id`: for `after`. */
  | { type: "conversation"; id: string; conversation: InboxConversation }
  | ({ type: "typing" } & InboxTyping)
  | ({ type: "presence" } & InboxPresence);

export type LiveQuery = Omit<ListenForVisitorQuery, "wait">;

export type LiveEvent =
  | ({ type: "state" } & ChatState)
  | ({ type: "message" } & LiveMessage)
  | { type: "typing"; typing: boolean };

interface Source<Event> {
  readonly path: readonly string[];
  readonly query: Query;
  /** Of the last event that the caller has. */
  readonly after: string | undefined;
  /** Null for what this client does not know. */
  toEvent(name: string | undefined, data: object, id: string | undefined): Event | null;
}

/** Clients of a server that restarts come back spread over this. */
const firstWaitMs = 3000;
const maxWaitMs = 30_000;

export function followInbox(transport: Transport, { after, ...query }: InboxQuery, options: CallOptions) {
  const inbox: Source<InboxEvent> = {
    ...{ path: ["api", "inbox", "events"], query: { ...query }, after },
    toEvent(name, data, id) {
      if (name === "conversation") return id ? { type: name, id, conversation: data as InboxConversation } : null;
      if (name === "typing") return { type: name, ...(data as InboxTyping) };
      return name === "presence" ? { type: name, ...(data as InboxPresence) } : null;
    },
  };
  return followEvents(transport, inbox, options);
}

export function followLive(transport: Transport, id: string, { after, ...query }: LiveQuery, options: CallOptions) {
  const live: Source<LiveEvent> = {
    ...{ path: ["api", "companions", id, "live"], query, after: after === undefined ? after : String(after) },
    toEvent(name, data) {
      if (name === "state") return { type: name, ...(data as ChatState) };
      if (name === "message") return { type: name, ...(data as LiveMessage) };
      return name === "typing" ? { type: name, ...(data as { typing: boolean }) } : null;
    },
  };
  return followEvents(transport, live, options);
}

/** Ends where the server has nothing more to send. Opened for the first time, it has had its tries. */
async function* followEvents<Event>(
  transport: Transport,
  { path, query, after, toEvent }: Source<Event>,
  options: CallOptions,
): AsyncGenerator<Event, void, undefined> {
  let lastId = after;
  let isOpened = false;
  for (let tries = 0; ; tries++) {
    let askedMs = 0;
    try {
      const headers = { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
      const again = isOpened ? { maxRetries: 0 } : {};
      const opened = await transport.open({ method: "GET", path, query, headers }, { ...options, ...again });
      isOpened = true;
      for await (const { event, data, id } of readEvents(opened)) {
        tries = 0;
        lastId = id ?? lastId;
        const known = toEvent(event, parse(data), id);
        if (known !== null) yield known;
      }
      if (opened.response.status === 204) return;
    } catch (error) {
      if (!isOpened || !(error instanceof CompanionError) || !canReturn(error)) throw toCompaniondError(error);
      askedMs = error.retryAfterMs ?? 0;
    }
    const waitMs = tries === 0 ? Math.random() * firstWaitMs : Math.min(maxWaitMs, 1000 * 2 ** (tries - 1));
    await transport.sleep(Math.max(askedMs, waitMs), options.signal);
  }
}

/** Not where the right is gone, the call is wrong, or a newer stream has replaced this one. */
function canReturn({ isCut, status }: CompanionError): boolean {
  return isCut || status === 429 || status >= 500;
}

type Fields = { event?: string; data?: string; id?: string };

/** Ends with the body. Closes the response when it is left. */
async function* readEvents({ response, next, close }: OpenedResponse): AsyncGenerator<Fields, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let fields: Record<string, string> = {};
  try {
    if (reader === undefined || response.status === 204) return;
    // A page of a proxy, for example.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream) throw new CompanionError("bad_response");
    for (;;) {
      const part = await next(reader.read());
      if (part.done) return;
      const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === ": error replaced") throw new CompanionError("replaced");
        const [, name = "", value = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
        if (name !== "") fields[name] = value;
        if (line !== "") continue;
        if (fields["data"] !== undefined) yield fields;
        fields = {};
      }
    }
  } finally {
    close();
  }
}

function parse(data = ""): object {
  try {
    return Object(JSON.parse(data));
  } catch (cause) {
    throw new CompanionError("bad_response", { cause });
  }
}
