// A backend that relays chat: its own page talks to it alone, and it talks to companiond with an API key.
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { Companiond, CompaniondError } from "companiond-client";

const { BASE_URL, API_KEY, COMPANION_ID, PORT = "8080" } = process.env;
if (!BASE_URL || !API_KEY || !COMPANION_ID) {
  console.error("Set BASE_URL, API_KEY and COMPANION_ID.");
  process.exit(2);
}
const companiond = new Companiond({ baseUrl: BASE_URL, apiKey: API_KEY });

// This map stands for your own sessions. The visitor is the user who is signed in, never a name that the page sends.
const users = new Map([["session-of-ada", { id: 42, name: "Ada", plan: "pro" }]]);

async function readJson(request) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > 64 * 1024) throw new CompaniondError("payload_too_large", { status: 413 });
  }
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new CompaniondError("invalid_request", { status: 400, message: "The body must be JSON." });
  }
}

// Your own form of the stream; this one is lines of JSON.
async function* toLines(reply) {
  yield `${JSON.stringify({ session_id: reply.sessionId })}\n`;
  for await (const text of reply) yield `${JSON.stringify({ text })}\n`;
  yield `${JSON.stringify({ done: true })}\n`;
}

async function chat(request, response) {
  const user = users.get(request.headers.authorization?.replace("Bearer ", ""));
  if (!user) return response.writeHead(401).end();
  const { message, session_id } = await readJson(request);

  // A page that goes away ends the reply, and with it the model's work.
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const visitor = { sub: String(user.id), name: user.name, attributes: { plan: user.plan } };
  const reply = companiond.companions.chat(COMPANION_ID, { message, session_id, visitor }, { signal: gone.signal });

  // Waits for a page that reads slowly, and so does companiond.
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  await pipeline(toLines(reply), response, { end: false });
  response.end();
}

function fail(response, error) {
  // The page went away.
  if (response.destroyed) return;
  const isKnown = error instanceof CompaniondError;
  if (!isKnown) console.error(error);
  // Once the reply has begun, its last line shows that it is not whole.
  const { code, message } = isKnown ? error : { code: "internal", message: "Something went wrong." };
  if (!response.headersSent) response.writeHead(error.status || 502, { "content-type": "application/json" });
  response.end(`${JSON.stringify({ error: { code, message } })}\n`);
}

const server = createServer((request, response) => {
  if (request.method !== "POST" || request.url !== "/chat") return response.writeHead(404).end();
  chat(request, response).catch((error) => fail(response, error));
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
