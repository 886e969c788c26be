/** For whom tools are called, by whom they are answered, and what that may cost (contract-2, section 5; contract-3, section 13). */
import { expect, test } from "bun:test";
import { apiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startStateless } from "../support/mcp-servers.ts";
import { openToolWorld, readEvents } from "../support/tool-world.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";

const day = () => new Date().toISOString().slice(0, 10);

async function openOwner(world: Awaited<ReturnType<typeof openToolWorld>>) {
  const { server, companion } = world;
  const account = await server.services.store.accounts.findById(companion.accountId);
  if (account === null) throw new Error("there is no account");
  const { key } = await server.createKey(account);
  return { key, api: apiClient(server.url, key) };
}

test("a verified visitor's tools know who asks, and are offered to nobody else", async () => {
  await using world = await openToolWorld({}, { visitorAuth: "optional" });
  const { server, companion, calls } = world;
  await world.addTool({ name: "orders", requiresVisitor: true });
  const { key } = await openOwner(world);
  const token = await signToken(await createWebsiteKey(server.url, key), companion.id, {
    ...{ sub: "user-42", attributes: { plan: "pro" } },
  });
  expect((await world.say("[[call:orders {}]]")).events).toEqual([]);
  const response = await fetch(`${server.url}/api/embed/${companion.embedToken}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-visitor-token": token },
    body: JSON.stringify({ message: "[[call:orders {}]]" }),
  });
  expect((await readEvents(response)).isDone).toBe(true);
  expect(calls.map(({ data }) => data.visitor)).toEqual([
    { sub: "user-42", verified: true, attributes: { plan: "pro" } },
  ]);
});

test("a platform that relays is asked to confirm, and passes the decision on", async () => {
  await using world = await openToolWorld();
  const { companion, calls } = world;
  await world.addTool({ name: "book", confirm: true });
  const { key, api } = await openOwner(world);
  const visitor = { sub: "user-7" };
  const sessionId = crypto.randomUUID();
  const send = (path: string, body: object) =>
    fetch(`${world.server.url}/api/companions/${companion.id}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ session_id: sessionId, visitor, ...body }),
    });
  const asked = await readEvents(await send("/chat", { message: "[[call:book {}]]", events: true }));
  const callId = String(asked.events[0]?.data.call_id);
  expect((await send(`/confirmations/${callId}`, { approve: true, visitor: { sub: "user-8" } })).status).toBe(404);
  expect((await send(`/confirmations/${callId}`, {})).status).toBe(400);
  const decided = await readEvents(await send(`/confirmations/${callId}`, { approve: true }));
  expect(decided.isDone).toBe(true);
  expect(calls.map(({ data }) => data.visitor.sub)).toEqual(["user-7"]);
  // Keys without the scope, and cookies, do not decide.
  expect((await api.call("POST", `/api/companions/${companion.id}/confirmations/nothing`, {})).status).toBe(404);
});

test("OpenAI's clients and the owner's test chat get what tools say, and nothing is kept of it", async () => {
  await using world = await openToolWorld();
  const { companion, calls, server } = world;
  const { id: toolId } = await world.addTool();
  await world.addTool({ name: "book", confirm: true });
  const { api } = await openOwner(world);
  const message = "[[call:look_up {}]]";
  const completion = await api.call("POST", "/v1/chat/completions", {
    ...{ model: companion.id, messages: [{ role: "user", content: message }] },
  });
  expect(completion.text).toContain("The tools said: ");
  const trial = await api.call("POST", `/api/companions/${companion.id}/test-chat`, { message });
  expect(trial.text).toContain('{\\"ok\\":true}');
  expect(calls.map(({ data }) => [data.session_id, data.visitor.sub])).toEqual([
    [null, null],
    [null, null],
  ]);
  // What asks the visitor is not offered where nobody can be asked.
  expect(server.mockLlm.requests.every(({ body }) => !JSON.stringify(body.tools).includes("book"))).toBe(true);
  const { json } = await api.call("GET", `/api/companions/${companion.id}/tools/${toolId}/calls`);
  expect(json.data).toEqual([]);
});

test("a trial's calls are answered by what it gives: nothing is called or confirmed, and its message is none of the day's", async () => {
  const prices = JSON.stringify({ "test-model": { input: 1, output: 1 }, other: { input: 2, output: 2 } });
  const environment = { COMPANIOND_MODELS: "test-model,other", COMPANIOND_PRICES: prices, COMPANIOND_DAILY_FREE: "1" };
  await using world = await openToolWorld({ environment }, { systemPrompt: "{{visitor.name}} asks." });
  const { companion, calls, server } = world;
  for (const name of ["one", "ordered", "plain", "unknown"]) await world.addTool({ name, confirm: name === "one" });
  await world.addTool({ name: "orders", requiresVisitor: true });
  const { api } = await openOwner(world);
  const names = ["one", "ordered", "ordered", "ordered", "plain", "unknown", "orders", "nothing"];
  const body = {
    message: names.map((name) => `[[call:${name} {}]]`).join(""),
    ...{ trace: true, model: "other", visitor: { sub: "user-42", name: "Grace" } },
    tool_results: {
      one: { result: { state: "sent" } },
      ordered: [{ result: "first" }, { error: "It is closed." }],
      plain: [{ result: 1, more: 2 }],
      orders: [],
    },
  };
  const path = `/api/companions/${companion.id}/test-chat`;
  const [, told = ""] = /: trace (.*)\n/.exec((await api.call("POST", path, body)).text) ?? [];
  const trace = JSON.parse(told);
  expect(
    trace.tool_calls.map((call: Record<string, unknown>) => [call["tool"], call["state"], call["result"]]),
  ).toEqual([
    ["one", "done", '{"state":"sent"}'],
    ["ordered", "done", "first"],
    ["ordered", "failed", "It is closed."],
    ["ordered", "unanswered", "The tool could not be called."],
    ["plain", "done", '[{"result":1,"more":2}]'],
    ["unknown", "unanswered", "The tool could not be called."],
    ["orders", "done", "[]"],
    ["nothing", "refused", "There is no tool with that name."],
  ]);
  expect(calls).toEqual([]);
  // By the mock's count, 11 and 7 for each of two answers.
  const counted = { input_tokens: 22, output_tokens: 14, cost_micros: 72 };
  expect(trace).toMatchObject({ model: "other", ...counted });
  expect(trace.messages[0]).toEqual({ role: "system", text: "Grace asks." });
  const { json } = await api.call("GET", "/api/usage?group_by=companion");
  expect(json.data).toMatchObject([{ companion_id: companion.id, messages: 0, ...counted }]);
  expect(await server.services.store.turns.countDay(companion.id, day())).toBe(0);
  // Without results they are called, as long as the day has messages.
  expect((await api.call("POST", path, { message: "[[call:plain {}]]" })).text).toContain("[DONE]");
  expect(calls).toHaveLength(1);
  expect((await api.call("POST", path, { message: "Hi" })).status).toBe(429);
  expect((await api.call("POST", path, { ...body, message: "Hi" })).text).toContain("[DONE]");
});

test("a version is tried with the tools that it had: those that are gone, with given results alone", async () => {
  await using world = await openToolWorld();
  const { companion, calls } = world;
  const { id: gone } = await world.addTool({ name: "gone" });
  const { id: kept } = await world.addTool({ name: "kept", confirm: false });
  const { api } = await openOwner(world);
  const path = `/api/companions/${companion.id}`;
  // Version 4: its only tool asks the visitor, and is offered to nobody here.
  await api.call("PATCH", `${path}/tools/${kept}`, { confirm: true });
  await api.call("DELETE", `${path}/tools/${gone}`);
  const message = "[[call:kept {}]][[call:gone {}]]";
  const ask = async (fields: object) => {
    const { text } = await api.call("POST", `${path}/test-chat`, { message, trace: true, ...fields });
    const { companion_version, tool_calls } = JSON.parse(/: trace (.*)\n/.exec(text)?.[1] ?? "{}");
    return [companion_version, tool_calls.map(({ tool, state }: Record<string, string>) => [tool, state])];
  };
  expect(await ask({})).toEqual([5, []]);
  expect(await ask({ version: 3 })).toEqual([
    3,
    [
      ["kept", "done"],
      ["gone", "refused"],
    ],
  ]);
  expect(calls.map(({ data }) => data.tool)).toEqual(["kept"]);
  const results = { kept: 1, gone: 2 };
  expect(await ask({ version: 3, tool_results: results })).toEqual([
    3,
    [
      ["kept", "done"],
      ["gone", "done"],
    ],
  ]);
  expect(await ask({ version: 1, tool_results: results })).toEqual([1, []]);
  expect(calls).toHaveLength(1);
});

test("an MCP server's tools are offered under its prefix, and called by their own names", async () => {
  await using world = await openToolWorld();
  const executed: string[] = [];
  const mcp = startStateless({}, executed);
  await world.addTool({ name: "shop", target: { type: "mcp", url: mcp.url, tools: ["add", "forecast"] } });
  const read = await world.say('[[call:shop_add {"a":2,"b":3}]]');
  expect(read).toMatchObject({ isDone: true, text: "The tools said: The sum is 5." });
  expect(read.events.map(({ data }) => [data.name, data.state])).toEqual([
    ["shop_add", "running"],
    ["shop_add", "done"],
  ]);
  const offered = world.server.mockLlm.requests[0]?.body.tools as { function: { name: string } }[];
  expect(offered.map(({ function: { name } }) => name)).toEqual(["shop_add", "shop_forecast"]);
  expect(executed).toEqual(["add"]);
  await mcp.stop();
});

test("a visitor is asked before an MCP server's tool, too, by its title and the tool's name", async () => {
  await using world = await openToolWorld();
  const executed: string[] = [];
  const mcp = startStateless({}, executed);
  const target = { type: "mcp", url: mcp.url, tools: null } as const;
  await world.addTool({ name: "shop", title: "The shop", confirm: true, target });
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say('[[call:shop_add {"a":2,"b":3}]]', ids);
  expect(asked.events).toMatchObject([{ name: "confirm", data: { tool: "shop_add", title: "The shop: add" } }]);
  expect(executed).toEqual([]);
  const decided = await world.decide(String(asked.events[0]?.data.call_id), true, ids);
  expect(decided.text).toContain("The sum is 5.");
  expect(executed).toEqual(["add"]);
  await mcp.stop();
});

test("a server that is away ends no chat", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "shop", target: { type: "mcp", url: "http://127.0.0.1:1/mcp", tools: null } });
  await world.addTool({ name: "gone", target: { url: "http://127.0.0.1:1/" } });
  const read = await world.say("[[call:gone {}]]");
  expect(read.isDone).toBe(true);
  expect(read.events.map(({ data }) => data.state)).toEqual(["running", "failed"]);
});

test("the tokens of all rounds are counted, as one message; over a stop budget there is no further round", async () => {
  const prices = { "test-model": { input: 1, output: 1 } };
  const environment = {
    ...{
      COMPANIOND_MODELS: "test-model",
      COMPANIOND_PRICES: JSON.stringify(prices),
      COMPANIOND_MAX_OUTPUT_TOKENS: "20",
    },
  };
  await using world = await openToolWorld({ environment });
  const { companion, server } = world;
  await world.addTool();
  const { api } = await openOwner(world);
  const usage = async () => {
    const { json } = await api.call("GET", "/api/usage?group_by=companion");
    return json.data.find(({ companion_id }) => companion_id === companion.id);
  };
  expect((await world.say("[[call:look_up {}]][[rounds:3]]")).isDone).toBe(true);
  // By the mock's count, 11 and 7 for each of four answers.
  expect(await usage()).toMatchObject({ messages: 1, input_tokens: 44, output_tokens: 28, cost_micros: 72, errors: 0 });
  expect(await server.services.store.turns.countDay(companion.id, day())).toBe(1);

  // The least that lets an answer begin lets no second one follow: it has more to read.
  const account = { account: true, period: "month" };
  const { spent_micros } = (await api.call("POST", "/api/budgets/preview", account)).json;
  const stop = { ...account, action: "stop", limit_micros: spent_micros };
  const { id } = (await api.call("POST", "/api/budgets", stop)).json;
  let read = await world.say("[[call:look_up {}]]");
  for (let left = 10; read.status === 429 && left < 2_000; left += 10) {
    await api.call("PATCH", `/api/budgets/${id}`, { limit_micros: Number(spent_micros) + left });
    read = await world.say("[[call:look_up {}]]");
  }
  expect(read).toMatchObject({ status: 200, text: "", isDone: false });
  expect(read.raw).toEndWith(": error unavailable\n\n");
  expect(read.events.map(({ data }) => data.state)).toEqual(["running", "done"]);
  expect(await usage()).toMatchObject({ messages: 2, cost_micros: 72 + 18, errors: 0 });
});

test("an owner tries four tools at a time and no more", async () => {
  await using world = await openToolWorld();
  const { id } = await world.addTool();
  const { api } = await openOwner(world);
  const release = Promise.withResolvers<void>();
  world.answer(() => release.promise.then(() => Response.json({})));
  const trial = () => api.call("POST", `/api/companions/${world.companion.id}/tools/${id}/test`, {});
  const under = Array.from({ length: 4 }, trial);
  await eventually(() => world.calls.length === 4, { what: "the calls" });
  const refused = trial();
  const first = await Promise.race([refused, eventually(() => world.calls.length === 5).then(() => null)]);
  release.resolve();
  expect([first?.status, first?.json["code"]]).toEqual([429, "rate_limited"]);
  for (const { json } of await Promise.all(under)) expect(json).toMatchObject({ ok: true });
  expect((await trial()).json).toMatchObject({ ok: true });
});
