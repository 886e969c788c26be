// A website that identifies its visitors to companiond. It has a sign-in, an address for visitor tokens, and a page.
import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const { BASE_URL, EMBED_TOKEN, COMPANION_ID, VISITOR_KEY_ID, VISITOR_KEY_SECRET, PORT = "8080" } = process.env;
if (!BASE_URL || !EMBED_TOKEN || !COMPANION_ID || !VISITOR_KEY_ID || !VISITOR_KEY_SECRET) {
  console.error("Set BASE_URL, EMBED_TOKEN, COMPANION_ID, VISITOR_KEY_ID and VISITOR_KEY_SECRET.");
  process.exit(2);
}

// These two maps stand for your own accounts and sessions. Yours ask for a password.
const users = new Map([
  ["42", { id: 42, name: "Ada", plan: "pro" }],
  ["43", { id: 43, name: "Bo", plan: "free" }],
]);
const sessions = new Map();

const base64url = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

// The user is the one who is signed in to your own session, never a name that the browser sends.
function signVisitorToken(user) {
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "HS256", typ: "JWT", kid: VISITOR_KEY_ID };
  const claims = {
    aud: COMPANION_ID,
    sub: String(user.id),
    name: user.name,
    attributes: { plan: user.plan },
    iat: now,
    // The page asks for a new one before this one ends.
    exp: now + 15 * 60,
  };
  const content = `${base64url(header)}.${base64url(claims)}`;
  return `${content}.${createHmac("sha256", VISITOR_KEY_SECRET).update(content).digest("base64url")}`;
}

const sessionOf = (request) => /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1];

const pages = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/page.js", ["page.js", "text/javascript; charset=utf-8"]],
]);

async function respond(request) {
  const { pathname, searchParams } = new URL(request.url, "http://site");
  const user = sessions.get(sessionOf(request)) ?? null;
  const noStore = { "cache-control": "no-store" };
  const home = { ...noStore, location: "/" };

  if (request.method === "POST") {
    // A form of another website must sign no one in or out.
    if (request.headers["sec-fetch-site"] !== "same-origin") return [403, noStore, "Only from this site."];
    if (pathname === "/sign-in" && users.has(searchParams.get("user"))) {
      const session = randomUUID();
      sessions.set(session, users.get(searchParams.get("user")));
      return [303, { ...home, "set-cookie": `session=${session}; Path=/; HttpOnly; SameSite=Lax` }, ""];
    }
    if (pathname === "/sign-out") {
      sessions.delete(sessionOf(request));
      return [303, { ...home, "set-cookie": "session=; Path=/; Max-Age=0" }, ""];
    }
  }
  if (request.method === "GET") {
    if (pathname === "/visitor-token") {
      return user === null ? [401, noStore, "No one is signed in."] : [200, noStore, signVisitorToken(user)];
    }
    if (pathname === "/session") {
      const facts = { name: user?.name ?? null, baseUrl: BASE_URL, token: EMBED_TOKEN };
      return [200, { ...noStore, "content-type": "application/json" }, JSON.stringify(facts)];
    }
    const [file, type] = pages.get(pathname) ?? [];
    if (file) return [200, { "content-type": type }, await readFile(new URL(file, import.meta.url))];
  }
  return [404, noStore, "Not found."];
}

const server = createServer(async (request, response) => {
  const [status, headers, body] = await respond(request);
  response.writeHead(status, headers).end(body);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://localhost:${server.address().port}`));
