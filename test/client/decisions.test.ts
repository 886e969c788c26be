/** What platforms learn of calls of tools and of people through the client for servers, and what they pass on. */
import { expect, test } from "bun:test";
import { Companiond } from "../../src/client/index.ts";
import { openPeopleChat } from "../support/people-chat.ts";
import { openToolWorld } from "../support/tool-world.ts";

test("a reply tells of its calls and asks for a decision, which goes on with the reply, once and for its visitor alone", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  await world.addTool({ name: "book", title: "Book a table", confirm: true });
  const { server, companion } = world;
  const account = await server.services.store.accounts.findById(companion.accountId);
  if (account === null) throw new Error("There is no account.");
  const { key } = await server.createKey(account);
  const client = new Companiond({ baseUrl: server.url, apiKey: key });
  const visitor = { sub: "user-42" };

  const first = client.companions.chat(companion.id, { message: "[[call:look_up {}]]", visitor, events: true });
  expect(await first.text()).toBe('The tools said: {"ok":true}');
  expect(first.calls).toEqual([{ call_id: world.calls[0]?.id ?? "", name: "look_up", state: "done" }]);
  expect(first.confirmation).toBeNull();

  const session_id = first.sessionId;
  const message = '[[call:book {"city":"Oslo"}]]';
  const asking = client.companions.chat(companion.id, { message, visitor, session_id, events: true });
  expect(await asking.text()).toBe("");
  const { call_id = "", ...asked } = asking.confirmation ?? {};
  expect(asked).toEqual({ tool: "book", title: "Book a table", arguments: { city: "Oslo" } });

  const decision = { approve: true, session_id, visitor };
  const others = client.companions.confirm(companion.id, call_id, { ...decision, visitor: { sub: "user-43" } });
  expect(await others.text().catch((error: unknown) => error)).toMatchObject({ code: "not_found" });
  const rest = client.companions.confirm(companion.id, call_id, decision);
  expect(await rest.text()).toContain("The tools said");
  expect(rest.calls).toEqual([{ call_id, name: "book", state: "done" }]);
  expect(world.calls.map(({ data }) => [data.tool, data.visitor.sub])).toEqual([
    ["look_up", "user-42"],
    ["book", "user-42"],
  ]);
  const again = client.companions.confirm(companion.id, call_id, decision);
  expect(await again.text().catch((error: unknown) => error)).toMatchObject({
    name: "CompaniondError",
    code: "conflict",
  });
});

test("a platform asks for a person through the client, reads that one is awaited, and goes back", async () => {
  await using world = await openPeopleChat();
  const { server, companion } = world;
  const client = new Companiond({ baseUrl: server.url, apiKey: world.ownerKey });
  const conversation = { session_id: crypto.randomUUID(), visitor: { sub: "user-42" } };
  expect(await client.companions.askForPerson(companion.id, { ...conversation, reason: "Refund" })).toMatchObject({
    ...{ state: "waiting", available: true },
  });
  const said = () => client.companions.chat(companion.id, { message: "hello", ...conversation }).text();
  expect(await said()).toBe("One moment.");
  const { session_id, visitor } = conversation;
  await client.companions.backToCompanion(companion.id, { session_id, visitor_sub: visitor.sub });
  expect(await said()).toBe("You said: hello");
  const refused = client.companions.askForPerson((await server.createCompanion()).id, conversation);
  expect(await refused.catch((error: unknown) => error)).toMatchObject({ code: "not_found" });
});
