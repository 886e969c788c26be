/**
 * Calls every route with ids of another account: the response equals that for a missing id, byte for byte, and nothing
 * changes.
 */
import { chat } from "../test/support/chat.ts";
import { startMockElevenLabs } from "../test/support/mock-elevenlabs.ts";
import { type Belongings, type Ids, listChanges, makeBelongings, readBelongings } from "./belongings.ts";
import { apiFaults, type Call, type Client } from "./client.ts";
import { documentFaults, fillPath, type Operation, readOperations } from "./document.ts";
import {
  type Caller,
  Intruder,
  intruderFaults,
  isOfOperators,
  isPrivate,
  missingIds,
  pick,
  toShape,
} from "./intruder.ts";
import { type FaultRow, Tally } from "./row.ts";
import { openWorld, runJson, type World } from "./world.ts";

const faults = [
  "resources of the other account changed",
  "ids that their own owner cannot use",
  "retries that got the other account's response",
  "voice agents of the other account claimed",
  "words of the other account's visitor remembered",
] as const;

export const crossAccountRow: FaultRow = {
  name: "cross-account",
  title: "every route with another account's ids, by key and by cookie",
  story:
    "An owner and an operator, by API key and by session cookie, call every operation with the ids of another " +
    "account in paths, queries, cursors, bodies and idempotency keys. Each response is compared byte for byte " +
    "with the one to an id that does not exist; afterwards everything that the other account owns is compared " +
    "with its earlier state.",
  async run({ say, form }) {
    const tally = new Tally([...apiFaults, ...documentFaults, ...intruderFaults, ...faults]);
    const voice = await startMockElevenLabs();
    await using world = await openWorld({
      env: { ELEVENLABS_API_KEY: voice.apiKey, ELEVENLABS_BASE_URL: voice.url },
    });
    const operations = await readOperations(world.url, tally);
    const victim = await makeBelongings(world, tally, "victim", "Rumpelstilzchen");
    const stranger = await makeBelongings(world, tally, "stranger", "Nobody");
    const operator = await makeBelongings(world, tally, "operator", "Everybody", "operator");
    const retried = (await victim.owner.client.send(retry)).json.id;
    await runJson(world.server.dataDir, ["account", "grant-agent", victim.owner.email, "agent_of_one"]);
    await victim.owner.client.send({ ...bind, path: `/api/companions/${retried}`, method: "PATCH" });
    const before = await readBelongings(victim);

    const all: Caller[] = [stranger, operator].flatMap((own) => [
      { client: own.owner.client, own, isOperator: own === operator },
      { client: own.cookie, own, isOperator: own === operator },
    ]);
    // The owner's key and the operator's cookie stand for the other two.
    const callers = form === "tiny" ? [all[0], all[3]].filter((caller) => caller !== undefined) : all;
    for (const caller of callers) {
      const intruder = new Intruder(caller, victim, tally);
      for (const operation of operations) await intruder.try(operation);
      await tryBodies(caller, victim, tally);
    }
    for (const { owner } of [stranger, operator]) await tryRetry(owner.client, retried, tally);
    for (const own of [stranger, operator]) await tryVisit(world, own, victim, tally);
    say(`${tally.timesDone("requests")} requests`);

    for (const change of listChanges(before, await readBelongings(victim))) tally.fault(faults[0], change);
    await useOwn(operations, victim, operator, tally);
    await voice.close();
    return tally.outcome();
  },
};

const retry: Call = {
  method: "POST",
  path: "/api/companions",
  body: { name: "Made once" },
  headers: { "idempotency-key": "the same as the other's" },
};
const bind: Call = {
  method: "POST",
  path: "/api/companions",
  body: { name: "Ada", voice_agent_id: "agent_of_one" },
};

/** Ids in bodies: ignored or refused. */
async function tryBodies({ client, isOperator }: Caller, { ids, token }: Belongings, tally: Tally): Promise<void> {
  const body = { name: "Mine", id: ids.companions, created_by_key_id: ids.keys, embed_token: token };
  const path = "/api/companions";
  const { json } = await client.send({ method: "POST", path, body });
  if (json.id === ids.companions || json.embed_token === token) tally.fault(faults[0], JSON.stringify(json));
  await client.send({ method: "PATCH", path: `${path}/${json.id}`, body });
  const asked = { messages: [{ role: "user", content: "Hello" }] };
  const budget = { limit_micros: 1, period: "day", action: "notify" };
  for (const [to, sent] of [
    ["/v1/chat/completions", (of: Ids) => ({ ...asked, model: of.companions })],
    ["/api/budgets", (of: Ids) => ({ ...budget, companion_id: of.companions })],
    ["/api/budgets", (of: Ids) => ({ ...budget, key_id: of.keys })],
  ] as const) {
    const shapeWith = async (of: Ids) => toShape(await client.send({ method: "POST", path: to, body: sent(of) }));
    const [theirs, none] = [await shapeWith(ids), await shapeWith(missingIds(ids))];
    if (theirs !== none) tally.fault(intruderFaults[0], `POST ${to}: ${theirs} and not ${none}`);
  }
  const bound = await client.send(bind);
  // The operator owns the provider's key, so it may use every agent.
  if (bound.status !== (isOperator ? 201 : 400)) tally.fault(faults[3], `${bound.status} ${bound.text}`);
}

async function tryRetry(client: Client, retried: string, tally: Tally): Promise<void> {
  const { status, json, headers, text } = await client.send(retry);
  if (status !== 201 || json.id === retried || headers.has("idempotent-replayed")) tally.fault(faults[2], text);
}

/** The other visitor's ids at the caller's own companion start a new conversation. */
async function tryVisit(world: World, own: Belongings, victim: Belongings, tally: Tally): Promise<void> {
  const seen = world.mock.requests.length;
  const response = await chat(world.url, own.token, { message: "What did I say?", ...victim.visit });
  const sent = JSON.stringify(world.mock.requests.slice(seen).map(({ body }) => body));
  const isLeaked = victim.secrets.some((secret) => sent.includes(secret) || response.raw.includes(secret));
  if (!response.isDone || isLeaked) tally.fault(faults[4], `${response.raw} ${sent}`);
}

/** A reply is named together with its conversation. */
function ownQuery({ path, method }: Operation, { visit }: Belongings): string {
  if (method === "POST" || !/\/(?:chat\/\{message_id\}|live|person)$/.test(path)) return "";
  return `?session_id=${visit.session_id}&visitor_id=${visit.visitor_id}`;
}

/** Finally the owner uses the ids: ids that work for nobody would prove nothing. Children first, the account last. */
async function useOwn(operations: Operation[], victim: Belongings, operator: Belongings, tally: Tally): Promise<void> {
  const rank = ({ method, path }: Operation) => {
    // Until it ends, no message is answered.
    if (path.startsWith("/api/spending-stops")) return -1;
    if (path === "/api/accounts/{id}" && method === "DELETE") return 6;
    // Publishing ends a draft, which the others need.
    if (path.endsWith("/draft/publish")) return -0.5;
    if (path.endsWith("/draft") && method === "PUT") return -0.4;
    // Takes away the tools that came later.
    if (path.endsWith("/restore")) return 1.5;
    // Suspends the account, among other things.
    if (path.startsWith("/api/accounts")) return method === "DELETE" ? 5 : 4;
    if (method !== "DELETE") return 0;
    if (path.includes("/notes/") || path.startsWith("/api/leads")) return 0.5;
    if (path.includes("/visitors/") || path.startsWith("/api/sessions")) return 2;
    return path === "/api/companions/{id}" ? 3 : 1;
  };
  const stop = { account_id: victim.owner.accountId };
  await operator.cookie.send({ method: "POST", path: "/api/spending-stops", body: stop });
  for (const operation of operations.toSorted((a, b) => rank(a) - rank(b))) {
    if (!isPrivate(operation) || !operation.path.includes("{")) continue;
    // Its question was answered before.
    if (operation.described.operationId === "dismissQuestion") continue;
    // Their bodies name a visitor who has said nothing.
    if (/\/(?:ratings\/\{message_id\}|resolved|live|person)$/.test(operation.path) && operation.body !== null) continue;
    const { cookie } = isOfOperators(operation) ? operator : victim;
    const client = operation.door === "key" ? victim.owner.client : cookie;
    const { status, text } = await client.send({
      method: operation.method,
      path: fillPath(operation.path, (name) => pick(victim.ids, operation.path, name)) + ownQuery(operation, victim),
      body: operation.bodyExample ?? undefined,
    });
    tally.did("calls of the owner");
    // Texts are found, and not read again; and an image without one is asked for.
    const refused = { refreshSource: 400, setAvatar: 415 }[operation.described.operationId];
    const isFound = status < 300 || status === refused;
    if (!isFound) tally.fault(faults[1], `${operation.method} ${operation.path}: ${status} ${text}`);
  }
}
