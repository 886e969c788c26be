/** Members see their own companions alone, whatever they call; responders, who change nothing, no secrets either. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { routes } from "../../src/app/routes.ts";
import { isEmbedAccess } from "../../src/http/api-description.ts";
import type { Route } from "../../src/http/route.ts";
import { expectProblem, type ResponseBody } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type Dashboard, type MemberDashboard, openDashboard, openMemberDashboard } from "../support/dashboard.ts";
import { keepTurn } from "../support/kept-turn.ts";
import { storeSession } from "../support/stored-session.ts";

const prompt = "What only owners may read.";

let server: TestServer;
let owner: Dashboard;
/** What is behind the wall, and on this side of it. */
let foreign: Things;
let own: Things;

interface Things {
  companion: string;
  token: string;
  tokenId: string;
  source: string;
  tool: string;
  conversation: string;
}

beforeAll(async () => {
  server = await startTestServer();
  owner = await openDashboard(server, { plan: "paid" });
  [foreign, own] = [await makeThings("Foreign"), await makeThings("Own")];
});
afterAll(() => server.close());

async function makeThings(name: string): Promise<Things> {
  const at = (path: string, body: object) => owner.call("POST", `/api/companions${path}`, body);
  const { id: companion, embed_token: token } = (await at("", { name, system_prompt: prompt })).json;
  const [made] = (await owner.call("GET", `/api/companions/${companion}/embed-tokens`)).json.data;
  const source = (await at(`/${companion}/sources`, { type: "text", title: `${name} source`, text: "Hello." })).json.id;
  const tool = { name: "look_up", description: `${name} tool`, parameters: { type: "object" } };
  const toolId = (await at(`/${companion}/tools`, { ...tool, url: "https://shop.example/tool" })).json.id;
  const conversation = await keepConversation(companion);
  return { companion, token: String(token), tokenId: made?.id ?? "", source, tool: toolId, conversation };
}

async function keepConversation(companionId: string): Promise<string> {
  const companion = await server.services.store.companions.find(owner.account.id, companionId);
  if (companion === null) throw new Error("The companion is gone.");
  return keepTurn(server, companion);
}

const guarded = routes.filter(
  ({ access, path }) =>
    access !== "public" &&
    !isEmbedAccess(access) &&
    access !== "chat:write" &&
    // A stream without an end.
    path !== "/api/inbox/events",
);

function pathOf({ path }: Route, things: Things): string {
  const byNoun: Record<string, string> = { companions: things.companion, conversations: things.conversation };
  const ids: Record<string, string> = { source_id: things.source, tool_id: things.tool, token_id: things.tokenId };
  const noun = path.split("/")[2] ?? "";
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === "id" ? byNoun[noun] : ids[name]) ?? things.conversation);
}

async function callAs(member: MemberDashboard, route: Route, path: string) {
  // A session for each: some calls end it.
  const { cookie } = await storeSession(server.services.store, owner.account.id, Date.now(), member.member.id);
  return member.call(route.method, path, route.body === null ? undefined : {}, { cookie });
}

describe.each(["owner", "responder"] as const)("an %s of one companion", (role) => {
  let member: MemberDashboard;
  beforeAll(async () => {
    member = await openMemberDashboard(server, owner, { role, companionIds: [own.companion] });
  });

  test.each(guarded.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "finds nothing of another with %s",
    async (_, route) => {
      const path = pathOf(route, foreign);
      const response = await callAs(member, route, path);
      const isForeign = Object.values(foreign).some((id) => path.includes(id));
      if (isForeign) expect([403, 404]).toContain(response.status);
      const shown = response.text.replaceAll(path, "");
      for (const id of Object.values(foreign)) expect(shown).not.toContain(id);
      expect(shown).not.toContain("Foreign");
    },
  );

  test("finds its own", async () => {
    expect((await member.call("GET", `/api/companions/${own.companion}`)).json).toMatchObject({ name: "Own" });
    expect((await member.call("GET", "/api/companions")).json.data.map(({ id }) => id)).toEqual([own.companion]);
    expect((await member.call("GET", "/api/conversations")).json.data.map(({ id }) => id)).toEqual([own.conversation]);
    expect((await member.call("GET", `/api/conversations/${own.conversation}`)).status).toBe(200);
    expect((await member.call("GET", `/api/companions/${own.companion}/sources`)).json.data).toHaveLength(1);
    expect((await member.call("GET", `/api/companions/${own.companion}/tools`)).json.data).toHaveLength(1);
    for (const path of ["set", "versions", "versions/1"]) {
      const { status } = await member.call("GET", `/api/companions/${own.companion}/${path}`);
      expect([path, status]).toEqual([path, role === "owner" ? 200 : 403]);
    }
    const applied = await member.call("POST", "/api/apply", { companions: [{ slug: "mine", adopt: own.companion }] });
    expect(applied.status).toBe(403);
  });

  test("finds nothing of another by a filter or search", async () => {
    for (const query of [`companion_id=${foreign.companion}`, "q=hello", "updated_since=2020-01-01T00:00:00Z"]) {
      const { text, json } = await member.call("GET", `/api/conversations?${query}`);
      expect(text).not.toContain(foreign.conversation);
      expect(json.data).toHaveLength(query.startsWith("companion_id") ? 0 : 1);
    }
    for (const query of ["q=foreign", `q=${foreign.companion}`, "order=asc&enabled=true"]) {
      expect((await member.call("GET", `/api/companions?${query}`)).text).not.toContain(foreign.companion);
    }
  });

  test("is counted nothing of another", async () => {
    for (const query of ["", `?companion_id=${foreign.companion}`]) {
      expectProblem(await member.call("GET", `/api/usage${query}`), 403, "insufficient_scope");
    }
    const ofOwn = await member.call("GET", `/api/usage?companion_id=${own.companion}`);
    expect(ofOwn.status).toBe(role === "owner" ? 200 : 403);
  });
});

test("what is behind the wall has stayed as it was", async () => {
  for (const { companion, conversation, source, tool } of [foreign, own]) {
    expect((await owner.call("GET", `/api/companions/${companion}/sources/${source}`)).status).toBe(200);
    expect((await owner.call("GET", `/api/companions/${companion}/tools/${tool}`)).status).toBe(200);
    expect((await owner.call("GET", `/api/conversations/${conversation}`)).status).toBe(200);
  }
});

test("a responder of all companions reads them without prompts and tokens, and changes nothing", async () => {
  const responder = await openMemberDashboard(server, owner);
  const one = await responder.call("GET", `/api/companions/${own.companion}`);
  expect(one.json).toMatchObject({ name: "Own" });
  for (const { text } of [one, await responder.call("GET", "/api/companions")]) {
    expect(text).not.toMatch(/system_prompt|embed_token|What only owners/);
    expect(text).not.toContain(own.token);
  }
  const asked = await responder.call("GET", "/api/companions?fields=system_prompt,embed_token,name");
  expect(asked.text).not.toMatch(/system_prompt|embed_token|What only owners/);
  for (const { method, path, access, body } of guarded) {
    if (method === "GET") {
      const { text } = await responder.call(method, pathOf({ method, path } as Route, own));
      expect([path, text.includes(prompt), text.includes(own.token)]).toEqual([path, false, false]);
    }
    if (method === "GET" || access === "session") continue;
    const at = pathOf({ method, path } as Route, own);
    const response = await responder.call(method, at, body === null ? undefined : {});
    if (access !== "knowledge:read" && access !== "conversations:reply") {
      expect([path, response.status]).toEqual([path, 403]);
    }
  }
  expectProblem(
    await responder.call("GET", `/api/companions/${own.companion}/embed-tokens`),
    403,
    "insufficient_scope",
  );
  expect((await owner.call("GET", `/api/companions/${own.companion}`)).json).toMatchObject({ system_prompt: prompt });
});

test("pages of a limited member go on where they ended, and miss nothing", async () => {
  const ids: string[] = [];
  for (let number = 0; number < 5; number++) {
    ids.push(await keepConversation(own.companion));
    await keepConversation(foreign.companion);
  }
  const other = (await makeThings("Other")).companion;
  const member = await openMemberDashboard(server, owner, { companionIds: [own.companion, other] });
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data, next_cursor }: ResponseBody = (await member.call("GET", `/api/conversations?limit=2${cursor}`)).json;
    seen.push(...data.map(({ id }) => id));
    cursor = next_cursor === null ? null : `&cursor=${next_cursor}`;
  }
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  for (const id of ids) expect(seen).toContain(id);
});
