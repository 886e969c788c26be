/** A receiver of tool calls, with nothing but Node: checks the signature, carries out each call once, and responds. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

// Two while a secret is being replaced: the old one and the new one.
const secrets = (process.env.TOOL_SECRETS ?? "").split(/\s+/).filter(Boolean);
const keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
const maxBodyBytes = 256 * 1024;
const maxAgeSeconds = 300;

/** Stands in for your database. */
const orders = new Map([
  ["471100", { customer: "user-42", state: "packed" }],
  ["471101", { customer: "user-7", state: "sent" }],
]);

/** Who may do what is decided here, by `visitor` alone: the arguments are the model's, and may be anyone's words. */
const tools = {
  find_order({ number }) {
    const order = orders.get(number);
    return order === undefined ? { found: false } : { found: true, state: order.state };
  },
  cancel_order({ number }, { sub, verified }) {
    const order = orders.get(number);
    // The same answer for an order that does not exist and one that belongs to someone else.
    if (!verified || order?.customer !== sub) return { cancelled: false, why: "No such order of yours." };
    if (order.state === "sent") return { cancelled: false, why: "It has been sent already." };
    order.state = "cancelled";
    return { cancelled: true };
  },
};

function isSigned(headers, body) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > maxAgeSeconds) return false;
  const given = (headers["webhook-signature"] ?? "").split(" ").filter((one) => one.startsWith("v1,"));
  return keys.some((key) => {
    const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
    return given.some((one) => {
      const signature = Buffer.from(one.slice(3), "base64");
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
  });
}

/** By call id: a call that arrives again is the same call. Keep these in your database, in the transaction that carries out the call. */
const answers = new Map();

function answer({ tool, arguments: given, call_id: callId, visitor }) {
  const known = answers.get(callId);
  if (known !== undefined) return known;
  const result = Object.hasOwn(tools, tool) ? tools[tool](given, visitor) : null;
  answers.set(callId, result);
  if (answers.size > 10_000) answers.delete(answers.keys().next().value);
  return result;
}

async function readBody(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const server = createServer(async (request, response) => {
  const send = (status, result) => response.writeHead(status, { "content-type": "application/json" }).end(result);
  try {
    const body = request.method === "POST" ? await readBody(request) : null;
    if (body === null || !isSigned(request.headers, body)) return send(401, "{}");
    const { type, data } = JSON.parse(body.toString("utf8"));
    const result = type === "tool.call" ? answer(data) : null;
    if (result === null) return send(404, "{}");
    send(200, JSON.stringify(result));
  } catch (error) {
    console.error(error);
    send(500, "{}");
  }
});

if (keys.length === 0) throw new Error("Set TOOL_SECRETS to the secrets that companiond showed.");
server.listen(Number(process.env.PORT ?? 8090), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
