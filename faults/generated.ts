/**
 * Valid and nearly valid requests generated from the API document, by callers of every kind: no 5xx, nothing
 * undocumented.
 */
import { startMockElevenLabs } from "../test/support/mock-elevenlabs.ts";
import { type ApiResponse, apiFaults, type Client, createClient } from "./client.ts";
import { documentFaults, fillPath, type JsonSchema, type Operation, propertiesOf, readOperations } from "./document.ts";
import { type FaultRow, type Random, Tally } from "./row.ts";
import { listForbidden, makeJson, makeText, makeValue } from "./values.ts";
import { inParallel, makeOwner, openWorld, signIn, type World } from "./world.ts";

const requests = { tiny: 250, short: 10_000, long: 10_000 };
/** The order is deterministic within one worker; with several, the same seed gives a different run. */
const width = 4;

export const generatedRow: FaultRow = {
  name: "generated",
  title: "requests generated from the OpenAPI document",
  story:
    "Requests generated from the OpenAPI document for callers of every kind, two thirds valid, the others with " +
    "something wrong. Every response is checked against the document.",
  async run({ form, random, say }) {
    const tally = new Tally([...apiFaults, ...documentFaults, "operations without a 2xx response"]);
    const voice = await startMockElevenLabs();
    await using world = await openWorld({
      env: { ELEVENLABS_API_KEY: voice.apiKey, ELEVENLABS_BASE_URL: voice.url },
    });
    const operations = await readOperations(world.url, tally);
    const callers = await makeCallers(world, tally);
    const pool = new Pool(random, callers.own);
    for (let count = 0; count < 5; count++) {
      await call(callers, pool, random, findOperation(operations, "createCompanion"), true);
    }
    const succeeded = new Set<string>();
    await inParallel(Array.from({ length: requests[form] }), width, async (_, index) => {
      const operation = operations[random.below(operations.length)];
      if (operation === undefined) return;
      const response = await call(callers, pool, random, operation, random.below(3) > 0);
      if (response.status >= 200 && response.status < 300) succeeded.add(operation.described.operationId);
      if (index % 2_000 === 1_999) say(`${index + 1} requests`);
    });
    tally.did("operations", operations.length);
    for (const { described } of operations) {
      if (!succeeded.has(described.operationId) && !rare.has(described.operationId) && form !== "tiny") {
        tally.fault("operations without a 2xx response", described.operationId);
      }
    }
    await voice.close();
    return tally.outcome();
  },
};

/**
 * They need a secret, or the name of a reply, that cannot be guessed, or fields and ids that fit together; they are called
 * all the same.
 */
const rare = new Set([
  ...["setUp", "describeLink", "signIn", "resetPassword", "changePassword", "confirmTotp", "removeTotp"],
  ...["takeElevenlabsWebhook", "getMetrics"],
  ...["followReply", "cancelReply", "followRelayedReply", "cancelRelayedReply"],
  ...["listOwnConversations", "getOwnConversation", "mergeVisitor"],
  ...["createTool", "getTool", "updateTool", "deleteTool", "rotateToolSecret", "listToolCalls"],
]);

function findOperation(operations: readonly Operation[], id: string): Operation {
  const found = operations.find(({ described }) => described.operationId === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

interface Callers {
  key: Client;
  weakKey: Client;
  nobody: Client;
  badKey: Client;
  cookie(): Promise<Client>;
  /** Called when the cookie was refused. */
  dropCookie(): void;
  /** Resources that the callers themselves need: generated requests never delete them. */
  own: ReadonlySet<string>;
}

async function makeCallers(world: World, tally: Tally): Promise<Callers> {
  const owner = await makeOwner(world, tally, "generated", "operator");
  const scopes = ["companions:read"];
  const weak = await owner.client.send({ method: "POST", path: "/api/keys", body: { name: "weak", scopes } });
  const keys = await owner.client.send({ method: "GET", path: "/api/keys" });
  let cookie: Promise<Client> | null = null;
  const client = (headers: Record<string, string>) => createClient(world.url, headers, tally);
  return {
    key: owner.client,
    weakKey: client({ authorization: `Bearer ${weak.json.key}` }),
    nobody: client({}),
    badKey: client({ authorization: `Bearer cmp_live_${"0".repeat(32)}` }),
    cookie() {
      cookie ??= signIn(world, tally, owner.email);
      return cookie;
    },
    dropCookie() {
      cookie = null;
    },
    own: new Set([owner.accountId, ...keys.json.data.map(({ id }) => id)]),
  };
}

/** Ids and tokens seen in responses, so that requests refer to existing resources. */
class Pool {
  readonly #known = new Map<string, string[]>();

  constructor(
    private readonly random: Random,
    private readonly own: ReadonlySet<string>,
  ) {}

  learn(path: string, response: ApiResponse): void {
    for (const json of documentsOf(response)) this.#learnFrom(path, json);
  }

  #learnFrom(path: string, json: ApiResponse["json"]): void {
    const noun = nounOf(path);
    for (const item of [json, ...(Array.isArray(json.data) ? json.data : [])]) {
      this.#add(noun, item.id);
      this.#add("token", item.embed_token);
      this.#add("visitor_id", item.visitor_id);
      this.#add("sub", item.visitor_id);
      if (noun === "spending-stops") this.#add("account_id", item.account_id ?? "all");
      if (path.endsWith("/voice-agents")) this.#add("agent_id", item.agent_id);
    }
    if (typeof json.next_cursor === "string") this.#add("cursor", json.next_cursor);
    if (path === "/assets/integrity.json") {
      for (const file of JSON.stringify(json).match(/[\w.-]+\.js/g) ?? []) this.#add("asset", file);
    }
  }

  take(name: string, path: string): string {
    const noun = name === "id" ? (/^\/api\/([\w-]+)/.exec(path)?.[1] ?? "") : name;
    if (this.random.below(6) === 0) return encodeURIComponent(makeText(this.random, 1, 40));
    if (noun === "file") return path.startsWith("/avatars/") ? `${this.#pick("token")}.svg` : this.#pick("asset");
    if (noun === "page") return this.random.pick(["api-keys", "companions"]);
    return this.#pick(noun);
  }

  #pick(noun: string): string {
    const known = this.#known.get(noun) ?? [];
    return known[this.random.below(known.length)] ?? crypto.randomUUID();
  }

  #add(noun: string, value: unknown): void {
    if (typeof value !== "string" || this.own.has(value)) return;
    const known = this.#known.get(noun) ?? [];
    // The latest ones: older resources are more likely to be deleted.
    this.#known.set(noun, [...known.filter((one) => one !== value).slice(-30), value]);
  }
}

/** The name under which ids of such an answer are asked for. */
function nounOf(path: string): string {
  if (path.includes("/embed-tokens")) return "token_id";
  if (/\/(sources|answer)\b/.test(path)) return "source_id";
  if (path.includes("/tools")) return "tool_id";
  if (path.includes("/unanswered")) return "question_id";
  return /^\/api\/([\w-]+)/.exec(path)?.[1] ?? "";
}

/** JSON, or a line of JSON each; none in other formats. */
function documentsOf({ headers, text }: ApiResponse): ApiResponse["json"][] {
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return [JSON.parse(text)];
  return type.startsWith(linesType) ? text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])) : [];
}

const linesType = "application/x-ndjson";

const asksProviders = new Set([
  "confirmCall",
  "confirmRelayedCall",
  "chat",
  "relayChat",
  "testChat",
  "createChatCompletion",
  "startVoiceSession",
]);

async function call(
  callers: Callers,
  pool: Pool,
  random: Random,
  operation: Operation,
  isRight: boolean,
): Promise<ApiResponse> {
  const { method, described, door } = operation;
  const headers: Record<string, string> = {};
  const path = fillPath(operation.path, (name) => pool.take(name, operation.path));
  const query = makeQuery(operation, pool, random, isRight);
  const made = makeBody(operation, random, isRight, headers);
  const isCompletion = described.operationId === "createChatCompletion" && isRight;
  const body = isCompletion ? { ...(made as object), model: pool.take("id", "/api/companions") } : made;
  if (described.parameters?.some(({ name }) => name === "Idempotency-Key") && random.below(4) === 0) {
    headers["idempotency-key"] = `key ${random.below(50)}`;
  }
  if (random.below(10) === 0) headers.origin = random.pick(["https://shop.example", "null", callers.key.url]);
  if (random.below(10) === 0) headers.accept = random.pick(["text/csv", "*/*", "text/html;q=0.1", "nonsense"]);
  // Wrong passwords slow down the account's further sign-ins, as they should, so there are only a few of them.
  const isGuess = ["changePassword", "removeTotp"].includes(described.operationId) && random.below(30) > 0;
  const client = isGuess ? callers.nobody : await chooseCaller(callers, random, door, isRight);
  // If an owner's voice agent has a generated id, the provider does not know it; and an operator may have stopped everybody.
  const allowed = asksProviders.has(described.operationId) ? [502, 503] : [];
  const sent = { method, path: path + query, headers, ...(body === undefined ? {} : { body }) };
  const response = await client.send(sent, allowed);
  if (response.status === 401 && "cookie" in client.credentials) callers.dropCookie();
  if (response.status < 300) pool.learn(path, response);
  return response;
}

async function chooseCaller(
  callers: Callers,
  random: Random,
  door: Operation["door"],
  isRight: boolean,
): Promise<Client> {
  if (!isRight && random.below(3) === 0) return random.pick([callers.nobody, callers.badKey, callers.weakKey]);
  if (door === "session") return callers.cookie();
  if (door === "key") return random.below(5) === 0 ? callers.cookie() : callers.key;
  return callers.nobody;
}

/** Both ways to write it. */
function makeFilterNames(path: string): [string, string] {
  return [`metadata.${path}`, `metadata[${path}]`];
}

function makeQuery({ described, path }: Operation, pool: Pool, random: Random, isRight: boolean): string {
  const query = new URLSearchParams();
  for (const { name, in: place, schema } of described.parameters ?? []) {
    if (place !== "query" || random.below(4) > 0) continue;
    const isForbidden = !isRight && random.below(3) === 0;
    const ids: Record<string, string> = { cursor: "cursor", companion_id: "id", visitor_id: "visitor_id" };
    const field = name === "metadata" ? random.pick(makeFilterNames(makeText(random, 1, 9))) : name;
    const noun = ids[name];
    if (noun !== undefined) query.set(field, pool.take(noun, noun === "id" ? "/api/companions" : path));
    else if (name === "metadata") query.set(field, makeText(random, 1, 9));
    else query.set(field, String(isForbidden ? pickOf(listForbidden(schema), random) : makeValue(schema, random)));
  }
  if (!isRight && random.below(10) === 0) query.append(makeText(random, 1, 9), "1");
  return query.size === 0 ? "" : `?${query}`;
}

function pickOf(values: readonly unknown[], random: Random): unknown {
  return values[random.below(values.length)];
}

function makeBody(
  { method, body, bodyExample, areLines }: Operation,
  random: Random,
  isRight: boolean,
  headers: Record<string, string>,
): unknown {
  if (method === "GET") return undefined;
  if (body === null) return random.below(20) === 0 ? makeJson(random, 2) : undefined;
  const right = (random.below(4) === 0 && bodyExample) || makeValue(body, random);
  if (areLines && random.below(10) > 0) {
    headers["content-type"] = linesType;
    return [right, isRight ? right : makeJson(random, 2)].map((line) => JSON.stringify(line)).join("\n");
  }
  if (isRight) return right;
  switch (random.below(6)) {
    case 0:
      return makeText(random, 0, 60);
    case 1:
      headers["content-type"] = random.pick(["text/plain", "application/x-www-form-urlencoded", "", "application/xml"]);
      return JSON.stringify(right);
    case 2:
      return JSON.stringify(right).slice(0, -1 - random.below(20));
    case 3:
      return makeJson(random, 3);
    default:
      return corrupt(right, body, random);
  }
}

/** Replaces one field by a forbidden value. */
function corrupt(right: unknown, schema: JsonSchema, random: Random): unknown {
  const fields = propertiesOf(schema);
  const [name, part] = fields[random.below(fields.length)] ?? ["", {}];
  return { ...(right as object), [name]: pickOf(listForbidden(part), random) };
}
