/**
 * Sends every invalid kind of value in every field, parameter and body of the API document; each is refused with the
 * field named.
 */
import { createWebsiteKey, signToken } from "../test/support/visitor-keys.ts";
import { type ApiResponse, apiFaults, type Client, createClient } from "./client.ts";
import { documentFaults, fillPath, type Operation, propertiesOf, readOperations, requiredOf } from "./document.ts";
import { makeKnowledge } from "./knowledge.ts";
import { type FaultRow, type Form, Tally } from "./row.ts";
import { listForbidden } from "./values.ts";
import { makeCompanion, makeOwner, type Owner, openWorld, signIn, type World } from "./world.ts";

const faults = [
  "bad values accepted",
  "refusals that do not name the field",
  "bad bodies with another status",
  "malformed ids with another status than 404",
] as const;

export const badInputRow: FaultRow = {
  name: "bad-input",
  title: "every input with every kind of invalid value",
  story:
    "For each parameter and field of the OpenAPI document, every kind of value that it forbids, and bodies that" +
    " are not JSON, too large or of another type. Each must be refused with the documented status, and the " +
    "response must name the offending field.",
  async run({ form, say }) {
    const tally = new Tally([...apiFaults, ...documentFaults, ...faults]);
    await using world = await openWorld();
    const operations = await readOperations(world.url, tally);
    const owner = await makeOwner(world, tally, "bad-input", "operator");
    const tester = await createTester(world, owner, tally, most[form]);
    for (const operation of operations) {
      await tester.tryParameters(operation);
      // A line that is refused is answered in its own line.
      if (operation.body !== null && !operation.areLines) await tester.tryBodies(operation);
    }
    say(`${tally.timesDone("requests")} requests`);
    const { status } = await owner.client.send({ method: "GET", path: "/api/companions" });
    tally.equal("status of a valid request afterwards", status, 200);
    return tally.outcome();
  },
};

/** Values of each list for each operation or field: in the test suite the next few each time, so that all have a turn. */
const most: Record<Form, number> = { tiny: 3, short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };

/** Path values that are not the id of anything. */
const malformed = [
  "x",
  "0",
  "%00",
  "%ff",
  "%",
  "%2e%2e%2f",
  "..%2f..%2fetc%2fpasswd",
  "%27%20OR%201=1",
  "a".repeat(2_000),
  "%F0%9F%99%82",
];
const forbiddenQuery: Record<string, string[]> = {
  first: ["-1", "1.5", "x", "", "1e2", "9".repeat(40)],
  limit: ["0", "1001", "-1", "1.5", "x", "", "1e2", "9".repeat(40)],
  cursor: ["x", "'", "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10x", "\u{1f642}"],
  from: ["yesterday", "2026-13-01", "2026-02-30", "2026-01-01T25:00:00Z", "'"],
  to: ["tomorrow", "0000", "2026-00-00", "-1"],
  group_by: ["week", "day,", ",", "day;companion"],
};

interface Call {
  path?: string;
  body?: unknown;
  type?: string;
}

class Tester {
  constructor(
    private readonly callers: Record<Operation["door"], Client>,
    private readonly signInAnew: () => Promise<Client>,
    private readonly ids: Readonly<Record<string, string>>,
    private readonly tally: Tally,
    private readonly most: number,
  ) {}

  #next = 0;

  #some<Value>(all: readonly Value[]): readonly Value[] {
    const from = all.length > this.most ? this.#next++ * this.most : 0;
    return all.map((_, at) => all[(from + at) % all.length] as Value).slice(0, this.most);
  }

  async #send(operation: Operation, call: Call): Promise<ApiResponse> {
    const response = await this.#sendOnce(operation, call);
    if (response.status !== 429 || operation.door !== "session") return response;
    // Operations that ask for a secret are limited by session.
    this.callers.session = await this.signInAnew();
    return await this.#sendOnce(operation, call);
  }

  /** Each call comes from its own address, since sign-ins are limited by address. */
  async #sendOnce(operation: Operation, call: Call): Promise<ApiResponse> {
    const path = call.path ?? this.#soundPath(operation);
    address++;
    return this.callers[operation.door].send({
      method: operation.method,
      path,
      ...(call.body === undefined ? {} : { body: call.body }),
      headers: {
        "x-forwarded-for": `203.${address >> 16}.${(address >> 8) & 255}.${address & 255}`,
        ...(call.type === undefined ? {} : { "content-type": call.type }),
      },
    });
  }

  #soundPath({ path }: Operation): string {
    return fillPath(path, (name) => this.ids[this.#nounOf(path, name)] ?? this.ids[name] ?? "none");
  }

  /** With what the conversation is found by, where there is nothing to listen to without. */
  #soundQuery(operation: Operation): string {
    const path = this.#soundPath(operation);
    return operation.path.endsWith("/live") ? `${path}?session_id=${this.ids["session_id"]}&` : `${path}?`;
  }

  #nounOf(path: string, name: string): string {
    return path.startsWith("/api/conversations/{id}/") || path === "/api/conversations/{id}"
      ? "conversation_id"
      : `${path} ${name}`;
  }

  async tryParameters(operation: Operation): Promise<void> {
    const { described, method, path, door } = operation;
    const isApi = path.startsWith("/api/") && door !== "public";
    for (const { name, in: place } of described.parameters ?? []) {
      // The dashboard does its own routing, and a visitor's name is whatever their website says.
      if (place === "path" && isApi && name !== "sub") {
        for (const value of this.#some(malformed)) {
          const response = await this.#send(operation, {
            path: fillPath(path, (of) => (of === name ? value : (this.ids[of] ?? "none"))),
          });
          this.tally.did("malformed ids");
          // The body is only validated if the resource exists.
          if (response.status !== 404) this.#fault(3, operation, value, response);
        }
      }
      // Pages for people accept whatever a link contains.
      if (place !== "query" || path.startsWith("/docs/")) continue;
      // Ids of a reply or conversation that are malformed belong to none: it is not found.
      if (path.endsWith("/chat/{message_id}") || (/_id$|^wait$/.test(name) && /\/(?:live|person)$/.test(path)))
        continue;
      for (const value of this.#some([...(forbiddenQuery[name] ?? []), "\0"])) {
        await this.#expectNamed(operation, name, {
          path: `${this.#soundQuery(operation)}${new URLSearchParams({ [name]: value })}`,
        });
      }
      if (!name.startsWith("metadata.")) {
        await this.#expectNamed(operation, name, { path: `${this.#soundQuery(operation)}${name}=1&${name}=1` });
      }
    }
    if (!isApi || door === "embed" || method === "DELETE") return;
    const body = operation.bodyExample;
    await this.#expectNamed(operation, "no_such", { path: `${this.#soundPath(operation)}?no_such=1`, body });
  }

  async tryBodies(operation: Operation): Promise<void> {
    const { body, bodyExample, door } = operation;
    if (body === null) return;
    const example = bodyExample as Record<string, unknown>;
    const required = requiredOf(body);
    for (const [name, schema] of propertiesOf(body)) {
      for (const value of this.#some(listForbidden(schema))) {
        await this.#expectNamed(operation, name, { body: { ...example, [name]: value } });
      }
      if (!required.includes(name)) continue;
      const { [name]: _, ...others } = example;
      await this.#expectNamed(operation, name, { body: others });
    }
    if (body.additionalProperties === false) {
      await this.#expectNamed(operation, "no_such_field", { body: { ...example, no_such_field: 1 } });
    }
    const sound = JSON.stringify(example);
    const isRequired = operation.described.requestBody?.required === true;
    const isChat = door === "embed" || operation.path === "/api/companions/{id}/chat";
    const isUpload = /\/sources(\/\{source_id\})?$/.test(operation.path);
    const mebibytes = isUpload ? 21 : ({ "/api/companions/batch": 8, "/api/apply": 9 }[operation.path] ?? 1);
    const limitBytes = isChat ? 64 * 1024 : mebibytes * 1024 * 1024;
    const bodies: [string, unknown, number, string?][] = [
      ["no JSON", "{", 400],
      ["half of it", sound.slice(0, -1) || "{", 400],
      ["two of it", sound + sound, 400],
      ["a list", "[]", 400],
      ["null", "null", 400],
      ["a text", '"a"', 400],
      ["a number", "1", 400],
      ["no UTF-8", Uint8Array.of(0x22, 0xff, 0xfe, 0x22), 400],
      ["a byte-order mark of UTF-16", Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), 400],
      ["lists in lists", "[".repeat(20_000), 400],
      [
        "deep objects",
        `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
        required.length > 0 || body.additionalProperties === false ? 400 : 0,
      ],
      ["another type", sound, 415, "text/plain"],
      ["a form", "a=1", 415, "application/x-www-form-urlencoded"],
      ["a type that is none", sound, 415, "json"],
      ["too much", `{"a":"${"x".repeat(limitBytes)}"}`, 413],
      ["nothing", "", isRequired ? 400 : 0],
    ];
    for (const [what, sent, expected, type] of this.#some(bodies)) {
      const response = await this.#send(operation, { body: sent, ...(type === undefined ? {} : { type }) });
      this.tally.did("bad bodies");
      const isRight = expected === 0 ? response.status < 500 : response.status === expected;
      if (!isRight) this.#fault(2, operation, what, response);
    }
  }

  async #expectNamed(operation: Operation, name: string, call: { path?: string; body?: unknown }): Promise<void> {
    const response = await this.#send(operation, call);
    this.tally.did("bad values");
    const what = `${name} in ${JSON.stringify(call)?.slice(0, 200)}`;
    if (response.status !== 400) return this.#fault(0, operation, what, response);
    const named = operation.path.startsWith("/v1/")
      ? listNamed(response)
      : response.json.errors?.map(({ param }) => param);
    const isNamed = (named ?? []).some(
      (param) => param === name || /^[.[]/.test(param.replace(name, "")) || name.startsWith("metadata."),
    );
    if (!isNamed) this.#fault(1, operation, what, response);
  }

  #fault(kind: 0 | 1 | 2 | 3, { method, path }: Operation, what: string, { status, text }: ApiResponse): void {
    this.tally.fault(faults[kind], `${method} ${path}: ${what}: ${status} ${text}`);
  }
}

/** OpenAI's shape has one. */
function listNamed({ json }: ApiResponse): string[] {
  return [String((json.error as { param: unknown } | undefined)?.param)];
}

let address = 0;

async function createTester(world: World, owner: Owner, tally: Tally, most: number): Promise<Tester> {
  const companion = await makeCompanion(owner.client, {
    visitor_auth: "optional",
    handoff: { mode: "any", when: "always" },
    leads: { when: "always", consent_text: "You may write to me." },
    ratings: true,
    ask_resolved: true,
  });
  const asked = {
    method: "POST",
    path: `/api/embed/${companion.token}/person`,
    body: { session_id: crypto.randomUUID() },
  };
  const knowledge = await makeKnowledge(world, owner.client, companion, "Where is my parcel?");
  const visitorToken = await signToken(await createWebsiteKey(world.url, owner.key), companion.id);
  // By a visitor who is known, as the callers below are, and by one who is not.
  for (const headers of [{}, { "x-visitor-token": visitorToken }]) {
    await createClient(world.url, headers, tally).send(asked);
  }
  const conversations = await owner.client.send({ method: "GET", path: "/api/conversations?state=waiting" });
  const budget = await owner.client.send({
    method: "POST",
    path: "/api/budgets",
    body: { account: true, limit_micros: 1_000_000, period: "day", action: "notify" },
  });
  const tool = await owner.client.send({
    method: "POST",
    path: `/api/companions/${companion.id}/tools`,
    body: { name: "own_tool", url: "https://shop.example/" },
  });
  const webhook = await owner.client.send({
    method: "POST",
    path: "/api/webhooks",
    body: { url: "https://hooks.example/", events: ["budget.reached"] },
  });
  const signInAnew = () => signIn(world, tally, owner.email);
  const session = await signInAnew();
  const member = await session.send({
    method: "POST",
    path: "/api/members",
    body: { email: "berta@team.example", name: "Berta", role: "responder" },
  });
  const callers = {
    public: createClient(world.url, {}, tally),
    embed: createClient(world.url, { "x-visitor-token": visitorToken }, tally),
    key: owner.client,
    session,
  };
  const ids = {
    id: companion.id,
    conversation_id: conversations.json.data[0]?.id ?? "none",
    message_id: crypto.randomUUID(),
    session_id: asked.body.session_id,
    ...knowledge,
    tool_id: tool.json.id,
    call_id: crypto.randomUUID(),
    number: "1",
    token: companion.token,
    sub: crypto.randomUUID(),
    "/api/accounts/{id} id": owner.accountId,
    "/api/budgets/{id} id": budget.json.id,
    "/api/webhooks/{id} id": webhook.json.id,
    "/api/members/{id} id": member.json.id,
    "/api/members/{id}/link id": member.json.id,
    "/api/accounts/{id}/reset-link id": owner.accountId,
    "/api/accounts/{id}/voice-agents id": owner.accountId,
  };
  return new Tester(callers, signInAnew, ids, tally, most);
}
