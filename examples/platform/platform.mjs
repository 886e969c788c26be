// One customer's companion, from the platform's side: node platform.mjs <customer id> <the customer's origin>
import { Companiond, CompaniondError } from "companiond-client";

const { BASE_URL, API_KEY } = process.env;
const [customerId, origin] = process.argv.slice(2);
if (!BASE_URL || !API_KEY || !customerId || !origin) {
  console.error("Usage: BASE_URL=… API_KEY=… node platform.mjs <customer id> <origin>");
  process.exit(2);
}
const companiond = new Companiond({ baseUrl: BASE_URL, apiKey: API_KEY });

// Your own identifiers live in the companion's metadata; any field of it can be a filter.
const ofCustomer = { metadata: { "customer.id": customerId } };

async function findCompanion() {
  const { data } = await companiond.companions.list({ ...ofCustomer, limit: 1 });
  return data[0];
}

// With an idempotency key of your own a repeated call makes no second companion, even after a crash of either side.
async function createCompanion() {
  return await companiond.companions.create(
    {
      name: "Ada",
      system_prompt: "You help the customers of a shop.",
      allowed_origins: [origin],
      metadata: { customer: { id: customerId }, plan: "trial" },
    },
    { idempotencyKey: `customer-${customerId}` },
  );
}

// One token for each page or site, so that one can be revoked without the others.
async function ensureEmbedToken(companion, name) {
  // Revoked tokens are not in the list.
  const { data } = await companiond.companions.embedTokens.list(companion.id);
  const existing = data.find((token) => token.name === name);
  return existing ?? (await companiond.companions.embedTokens.create(companion.id, { name }));
}

async function readUsage() {
  const { data } = await companiond.usage.query({ group_by: "companion", ...ofCustomer });
  return data[0] ?? { messages: 0, input_tokens: 0, output_tokens: 0 };
}

try {
  const found = await findCompanion();
  const companion = found ?? (await createCompanion());
  const { token } = await ensureEmbedToken(companion, "website");
  const { messages, input_tokens, output_tokens } = await readUsage();

  console.log(`${found ? "Found" : "Created"} companion ${companion.id} of customer ${customerId}.`);
  console.log(`For the customer's website: <script src="${BASE_URL}/widget.js" data-token="${token}" async></script>`);
  console.log(`Last 30 days: ${messages} messages, ${input_tokens + output_tokens} tokens.`);
} catch (error) {
  if (!(error instanceof CompaniondError)) throw error;
  console.error(`${error.code}: ${error.message} (request ${error.requestId})`);
  process.exit(1);
}
