/** An account that owns one of everything an account can own, and a text dump of it all, to detect any change. */
import { chat } from "../test/support/chat.ts";
import type { Client } from "./client.ts";
import { makeKnowledge } from "./knowledge.ts";
import type { Tally } from "./row.ts";
import { listAll, makeCompanion, makeOwner, type Owner, runJson, signIn, type World } from "./world.ts";

export interface Belongings {
  owner: Owner;
  /** The owner in the dashboard. */
  cookie: Client;
  /** One id of each kind; the owner's own access does not depend on them. */
  ids: Ids;
  /** Opens the companion to everyone: not a secret. */
  token: string;
  /** The client's own ids for the conversation and the visitor. */
  visit: { session_id: string; visitor_id: string; message_id: string };
  /** Ids and words that nobody else may see. */
  secrets: readonly string[];
}

/** By noun of the path, and by the name of a second parameter. */
export interface Ids {
  companions: string;
  conversations: string;
  keys: string;
  sessions: string;
  accounts: string;
  audit: string;
  token_id: string;
  visitor_id: string;
  message_id: string;
  source_id: string;
  question_id: string;
  tool_id: string;
  call_id: string;
  /** Of a version; each account has such numbers, so that it is no secret. */
  number: string;
  webhooks: string;
  delivery_id: string;
  members: string;
  note_id: string;
  conversation_id: string;
  sub: string;
  "visitor-keys": string;
  budgets: string;
  account_id: string;
  agent_id: string;
}

/**
 * All its private texts contain `word`; names, greetings and the like are shown to visitors and contain another word.
 */
export async function makeBelongings(
  world: World,
  tally: Tally,
  name: string,
  word: string,
  role: "owner" | "operator" = "owner",
): Promise<Belongings> {
  const owner = await makeOwner(world, tally, name, role);
  const { client } = owner;
  const cookie = await signIn(world, tally, owner.email);
  const make = async (path: string, body: object) => (await client.send({ method: "POST", path, body })).json;
  const companion = await makeCompanion(client, {
    system_prompt: `Say ${word}`,
    metadata: { plan: word, [word]: "yes" },
    handoff: { mode: "any", when: "always", ask: ["visitor"] },
    leads: { when: "always", consent_text: "You may write to me." },
    ratings: true,
    ask_resolved: true,
  });
  const path = `/api/companions/${companion.id}`;
  await client.send({ method: "PUT", path: `${path}/draft`, body: { system_prompt: `Shout ${word}` } });
  const token = await make(`${path}/embed-tokens`, { name: word });
  const key = await make("/api/keys", { name: word, scopes: ["companions:read"] });
  const [session_id, visitor_id, message_id] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const visit = { session_id, visitor_id, message_id };
  const webhook = await make("/api/webhooks", { url: "https://hooks.example/", events: ["*"] });
  const knowledge = await makeKnowledge(world, client, companion, `Where is ${word}?`);
  await chat(world.url, companion.token, { message: `I am ${word}`, ...visit });
  const tool = await make(`${path}/tools`, {
    name: "own_tool",
    title: word,
    url: "https://shop.example/",
    confirm: true,
  });
  // In the conversation of the document's example.
  const asking = { message: "[[call:own_tool {}]]", session_id: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10", events: true };
  const { raw: asked } = await chat(world.url, companion.token, asking);
  const { json: deliveries } = await client.send({ method: "GET", path: `/api/webhooks/${webhook.id}/deliveries` });
  const { json: conversations } = await client.send({ method: "GET", path: `${path}/conversations` });
  const invited = await cookie.send({
    method: "POST",
    path: "/api/members",
    body: { email: `${word.toLowerCase()}@team.example`, name: word, role: "responder" },
  });
  const note = await make(`/api/conversations/${conversations.data[0]?.id}/notes`, { text: word, as: { name: word } });
  const contact = { session_id: asking.session_id, email: "ada@example.com", consent: true };
  await client.send({ method: "POST", path: `/api/companions/${companion.id}/contact`, body: contact });
  const { json: signedIn } = await cookie.send({ method: "GET", path: "/api/session" });
  const audit = await client.send({ method: "GET", path: "/api/audit?limit=1" });
  const ids: Ids = {
    companions: companion.id,
    conversations: conversations.data[0]?.id ?? "",
    keys: key.id,
    sessions: String((signedIn.session as { id: unknown }).id),
    accounts: owner.accountId,
    audit: audit.json.data[0]?.id ?? "",
    token_id: token.id,
    visitor_id: visit.visitor_id,
    message_id: visit.message_id,
    ...knowledge,
    tool_id: tool.id,
    webhooks: webhook.id,
    delivery_id: deliveries.data[0]?.id ?? "",
    members: invited.json.id,
    note_id: note.id,
    conversation_id: conversations.data[0]?.id ?? "",
    call_id: /"call_id":"([^"]+)"/.exec(asked)?.[1] ?? "",
    number: "1",
    sub: visit.visitor_id,
    "visitor-keys": (await make("/api/visitor-keys", { name: word, algorithm: "HS256" })).id,
    budgets: (await make("/api/budgets", budgetOf(word))).id,
    // Of the operators' routes that name an account so.
    account_id: owner.accountId,
    agent_id: `agent_of_${name}`,
  };
  await runJson(world.server.dataDir, ["account", "grant-agent", owner.email, ids.agent_id]);
  const { number: _, ...secretIds } = ids;
  const secrets = [word, ...Object.values(secretIds), visit.session_id, token.token, owner.email, owner.key];
  return { owner, cookie, ids, token: companion.token, visit, secrets };
}

const budgetOf = (word: string) => ({
  metadata: { plan: word },
  limit_micros: 50_000_000,
  period: "month",
  action: "notify",
});

/** Fields that change when they are read. */
const moving = new Set(["last_used_at", "requests"]);

/** Everything of the account that the API shows, one line each. */
export async function readBelongings({ owner: { client }, cookie }: Belongings): Promise<string[]> {
  const companions = await listAll(client, "/api/companions");
  const conversations = await listAll(client, "/api/conversations");
  const each = (items: Record<string, unknown>[], path: (id: unknown) => string) =>
    Promise.all(items.map(async ({ id }) => (await client.send({ method: "GET", path: path(id) })).json));
  const usage = await client.send({ method: "GET", path: "/api/usage?group_by=day,companion,key" });
  const parts: object[] = [
    ...companions,
    ...(await each(companions, (id) => `/api/companions/${id}/quota`)),
    ...(await each(companions, (id) => `/api/companions/${id}/embed-tokens?limit=100`)),
    ...(await Promise.all(
      companions.flatMap(({ id }) => [
        listAll(client, `/api/companions/${id}/sources`),
        listAll(client, `/api/companions/${id}/unanswered`),
        listAll(client, `/api/companions/${id}/tools`),
      ]),
    )),
    ...(await each(conversations, (id) => `/api/conversations/${id}`)),
    ...(await listAll(client, "/api/keys")),
    ...(await client.send({ method: "GET", path: "/api/visitor-keys" })).json.data,
    ...(await listAll(client, "/api/budgets")),
    ...(await listAll(client, "/api/audit")),
    ...(await listAll(cookie, "/api/sessions")),
    // Without its own calls, which are counted a moment later.
    ...usage.json.data.filter((row) => row.companion_id !== null),
  ];
  return parts.map((part) => JSON.stringify(part, (name, value) => (moving.has(name) ? undefined : value)));
}

/** Lines that only one of the two contains. */
export function listChanges(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `gone: ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `new: ${line}`),
  ];
}
