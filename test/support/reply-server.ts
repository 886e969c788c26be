/**
 * The routes of chat, for visitors and for API keys, as a `fetch` function: replies to named messages that can be read
 * again, with connections that end where a test sets it. Speaks the wire of the contract; knows nothing of the server's
 * code.
 */

export interface SentRequest {
  method: string;
  /** Beneath `/api/embed/{token}` or `/api/companions/{id}`, without the query. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: Record<string, unknown>;
}

/** What becomes of one response: cut after so many bytes, by an end or a reset; or none at all. */
export type Fate = { cutAt: number; by: "end" | "reset" } | "no-head" | Response | null;

export interface ReplyServer {
  fetch(url: string, init: RequestInit): Promise<Response>;
  requests: SentRequest[];
  /** Of each request in turn; null serves it whole. */
  fate: (request: SentRequest, index: number) => Fate;
  /** The fragments of what is answered; a repeated message gets them cut otherwise. */
  fragments: readonly string[];
  /** Ends a reply instead of its terminator, such as `: error cancelled`. */
  comment: string | null;
  /** What the reply cites: sent only where it is asked for. */
  sources: unknown;
  /** Further events behind so many characters, which a fragment ends with: sent to the same clients, and with decisions. */
  events: readonly { offset: number; name: string; data: object }[];
  /** Line break of the streams. */
  lineBreak: string;
}

export function createReplyServer(fragments: readonly string[]): ReplyServer {
  const begun = new Set<unknown>();

  function frame(parts: readonly string[], offset: number | null, hasEvents: boolean): string {
    const { lineBreak, comment, sources } = server;
    let at = offset ?? 0;
    const tellOf = (place: number) =>
      server.events
        .filter((event) => hasEvents && event.offset === place)
        .map(({ name, data }) => [`event: ${name}`, `data: ${JSON.stringify(data)}`, "", ""].join(lineBreak));
    const events = tellOf(at);
    for (const text of parts) {
      at += text.length;
      const id = offset === null ? "" : `id: ${at}${lineBreak}`;
      events.push(`${id}data: ${JSON.stringify({ text })}${lineBreak}${lineBreak}`, ...tellOf(at));
    }
    if (hasEvents && sources !== null) {
      events.push(["event: sources", `data: ${JSON.stringify({ sources })}`, "", ""].join(lineBreak));
    }
    return [": ping", lineBreak, lineBreak, ...events, comment ?? "data: [DONE]", lineBreak, lineBreak].join("");
  }

  function answer({ method, path, query, body }: SentRequest): Response {
    const whole = server.fragments.join("");
    const isStream = { "Content-Type": "text/event-stream; charset=utf-8" };
    if (method === "POST" && path === "/chat") {
      // Again: the same characters in other events.
      const parts = begun.has(body.message_id) ? [...whole] : server.fragments;
      begun.add(body.message_id);
      return new Response(frame(parts, null, body.events === true), { headers: isStream });
    }
    if (method === "GET" && path.startsWith("/chat/")) {
      if (!begun.has(path.slice("/chat/".length))) return refuse(404, "not_found");
      const offset = Number(query.get("offset") ?? 0);
      const rest = whole.slice(offset);
      if (offset > whole.length || !rest.isWellFormed()) return refuse(400, "invalid_request");
      if (!rest && !server.comment) return new Response(null, { status: 204 });
      return new Response(frame(rest ? [...rest] : [], offset, query.get("events") === "true"), { headers: isStream });
    }
    if (method === "POST" && path.startsWith("/confirmations/")) {
      return new Response(frame(server.fragments, null, true), { headers: isStream });
    }
    if (method === "DELETE") return new Response(null, { status: 204 });
    return refuse(404, "not_found");
  }

  const server: ReplyServer = {
    requests: [],
    fate: () => null,
    fragments,
    comment: null,
    sources: null,
    events: [],
    lineBreak: "\n",
    async fetch(url, init) {
      init.signal?.throwIfAborted();
      const { pathname, searchParams } = new URL(url);
      const request: SentRequest = {
        method: init.method ?? "GET",
        path: pathname.replace(/^\/api\/(embed|companions)\/[^/]+/, ""),
        query: searchParams,
        headers: new Headers(init.headers),
        body: JSON.parse(String(init.body ?? "{}")),
      };
      const fate = server.fate(request, server.requests.push(request) - 1);
      if (fate instanceof Response) return fate;
      const response = answer(request);
      if (fate === "no-head") throw new TypeError("The line is dead.");
      return fate ? await cut(response, fate) : response;
    },
  };
  return server;
}

export function refuse(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, detail: "A sentence." }, { status, headers: { "X-Request-Id": "r", ...headers } });
}

async function cut(response: Response, { cutAt, by }: { cutAt: number; by: "end" | "reset" }): Promise<Response> {
  const bytes = (await response.bytes()).slice(0, cutAt);
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isSent && bytes.length > 0) {
        isSent = true;
        return controller.enqueue(bytes);
      }
      if (by === "end") return controller.close();
      // An error discards what was not read yet.
      await new Promise((resolve) => setImmediate(resolve));
      controller.error(new TypeError("The line was cut."));
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
