// One customer's companion, from the platform's side: node platform.mjs <customer id> <the customer's origin>
const { BASE_URL, API_KEY } = process.env;
const [customerId, origin] = process.argv.slice(2);
if (!BASE_URL || !API_KEY || !customerId || !origin) {
  console.error("Usage: BASE_URL=… API_KEY=… node platform.mjs <customer id> <origin>");
  process.exit(2);
}

/** Calls the management API. Throws what the server says, with `code` and `request_id`, when it refuses. */
async function api(method, path, { body, idempotencyKey } = {}) {
  const response = await fetch(BASE_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body && { "content-type": "application/json" }),
      ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.detail), answer);
  return answer;
}

// Your own identifiers live in the companion's metadata; any field of it can be a filter.
async function findCompanion() {
  const query = new URLSearchParams({ "metadata.customer.id": customerId });
  const { data } = await api("GET", `/api/companions?${query}`);
  return data[0];
}

// With an idempotency key a repeated call makes no second companion, even after a crash of either side.
async function createCompanion() {
  return await api("POST", "/api/companions", {
    idempotencyKey: `customer-${customerId}`,
    body: {
      name: "Ada",
      system_prompt: "You help the customers of a shop.",
      allowed_origins: [origin],
      metadata: { customer: { id: customerId }, plan: "trial" },
    },
  });
}

// One token for each place, so that one can be revoked without the others.
async function ensureEmbedToken(companion, name) {
  const path = `/api/companions/${companion.id}/embed-tokens`;
  const { data } = await api("GET", path);
  // Revoked tokens are not in the list.
  const existing = data.find((token) => token.name === name);
  return existing ?? (await api("POST", path, { body: { name } }));
}

async function readUsage() {
  const query = new URLSearchParams({ group_by: "companion", "metadata.customer.id": customerId });
  const { data } = await api("GET", `/api/usage?${query}`);
  return data[0] ?? { messages: 0, input_tokens: 0, output_tokens: 0 };
}

const found = await findCompanion();
const companion = found ?? (await createCompanion());
const { token } = await ensureEmbedToken(companion, "website");
const { messages, input_tokens, output_tokens } = await readUsage();

console.log(`${found ? "Found" : "Created"} companion ${companion.id} of customer ${customerId}.`);
console.log(`For the customer's website: <script src="${BASE_URL}/widget.js" data-token="${token}" async></script>`);
console.log(`Last 30 days: ${messages} messages, ${input_tokens + output_tokens} tokens.`);
