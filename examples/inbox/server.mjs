// An inbox of your own: your team takes conversations from its companions, and answers in your own interface.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { Companiond, CompaniondError } from "companiond-client";

const { BASE_URL, API_KEY, PORT = "8080" } = process.env;
if (!BASE_URL || !API_KEY) {
  console.error("Set BASE_URL and API_KEY.");
  process.exit(2);
}
const companiond = new Companiond({ baseUrl: BASE_URL, apiKey: API_KEY });
const page = await readFile(new URL("index.html", import.meta.url));

// This map stands for your own sign-in. A person is the user who is signed in, never a name that the page sends.
const people = new Map([["session-of-grace", { id: "7", name: "Grace" }]]);
const sessionOf = (request) => /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1];

async function readJson(request) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > 64 * 1024) throw new CompaniondError("payload_too_large", { status: 413 });
  }
  return Object(JSON.parse(text || "{}"));
}

async function* toEvents(inbox) {
  for await (const event of inbox) yield `${event.id ? `id: ${event.id}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}

// The person is present for visitors as long as their page is open.
async function sendEvents(request, response, as) {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const stay = (for_seconds) => companiond.presence.set({ for_seconds, as }).catch((error) => console.error(error));
  stay(90);
  const staying = setInterval(() => stay(90), 60_000);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  // The browser sends the id of the last event that it had: no change is missed, whichever of the two lines was cut.
  const query = { include_content: true, as: as.id, after: request.headers["last-event-id"] };
  try {
    await pipeline(toEvents(companiond.inbox(query, { signal: gone.signal })), response);
  } finally {
    clearInterval(staying);
    stay(0);
  }
}

const calls = {
  take: (id, _, as) => companiond.conversations.take(id, { as }),
  release: (id, _, as) => companiond.conversations.release(id, { as }),
  say: (id, { text, client_id }, as) => companiond.conversations.say(id, { text, client_id, as }),
  read: (id, { seq }, as) => companiond.conversations.markRead(id, { seq, as }),
};

async function respond(request, response) {
  const { pathname } = new URL(request.url, "http://inbox");
  if (pathname === "/") {
    // Yours asks for a password first.
    const cookie = "session=session-of-grace; Path=/; HttpOnly; SameSite=Strict";
    return response.writeHead(200, { "content-type": "text/html; charset=utf-8", "set-cookie": cookie }).end(page);
  }
  const as = people.get(sessionOf(request));
  if (as === undefined) return response.writeHead(401).end();
  if (pathname === "/events") return await sendEvents(request, response, as);
  const [, id, name = ""] = /^\/conversations\/([\w-]+)\/(\w+)$/.exec(pathname) ?? [];
  if (request.method !== "POST" || !Object.hasOwn(calls, name)) return response.writeHead(404).end();
  const result = await calls[name](id, await readJson(request), as);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result ?? {}));
}

function fail(response, error) {
  // The page went away.
  if (response.destroyed || response.headersSent) return response.destroy();
  if (!(error instanceof CompaniondError)) console.error(error);
  // Where a colleague was faster, `problem` has who it is.
  const { message, problem, status } = error instanceof CompaniondError ? error : { message: "Something went wrong." };
  response.writeHead(status || 502, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: message, person: problem?.person ?? null }));
}

const server = createServer((request, response) => respond(request, response).catch((error) => fail(response, error)));
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
