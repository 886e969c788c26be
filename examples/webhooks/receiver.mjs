/** Receives companiond's events: checks each signature, skips events that it has seen, and prints what has happened. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { WEBHOOK_SECRET: secret = "", PORT: port = "8080" } = process.env;
const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
const toleranceSeconds = 5 * 60;
const maxBytes = 2 * 1024 * 1024;

/** Keep these in your database, in the same transaction as what you do about the event, so that nothing is done twice. */
const seen = new Set();

function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(" ").some((signature) => {
    const [version, text = ""] = signature.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error("too large");
    chunks.push(chunk);
  }
  // Exactly as it arrived: if it were parsed and serialized again, the signature would not match.
  return Buffer.concat(chunks).toString("utf8");
}

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    if (!isSigned(request.headers, body)) return response.writeHead(401).end();
    const id = request.headers["webhook-id"];
    if (!seen.has(id)) {
      seen.add(id);
      const { type, data } = JSON.parse(body);
      console.log(`${type} ${data.conversation_id ?? data.companion_id ?? ""}`);
    }
    // If your work may take longer than 15 seconds, confirm first.
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
