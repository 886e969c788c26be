/** Verified visitors as they come, and as owners see them: keys, companions, conversations, the hosted page, the playground. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { pageSnippet, tokenPath } from "../../src/web/dashboard/visitor-keys/snippets.ts";
import { apiClient } from "../support/api-client.ts";
import { findViolations, findViolationsInState } from "../support/axe.ts";
import { choose, hasCount, holds, keepScreenshot } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld, type SignedInPage } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";
import { someOf } from "../support/full.ts";
import { prepareKey, signToken, type WebsiteKey } from "../support/visitor-keys.ts";
import { widgetOn } from "../support/widget-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const zoe = { sub: "customer/42", name: "Zoë <i>Å</i>", email: "zoe@shop.example", attributes: { plan: "pro" } };

async function createKey({ api }: SignedInPage, name = "Shop"): Promise<WebsiteKey> {
  const { json } = await api.call("POST", "/api/visitor-keys", { name, algorithm: "HS256" });
  return { id: json.id, algorithm: "HS256", signWith: new TextEncoder().encode(String(json.secret)) };
}

function sayAs(embedToken: string, visitorToken: string, message: string) {
  const headers = { "x-visitor-token": visitorToken };
  return apiClient(world.server.url, null).call("POST", `/api/embed/${embedToken}/chat`, { message }, headers);
}

test("makes a key whose secret is shown once, with the code that signs; refuses a third; revokes", async () => {
  const owner = await world.openAs("owner", "/app/visitor-keys");
  const { page, api, complaints } = owner;
  const ada = (await api.call("POST", "/api/companions", { name: "Ada", visitor_auth: "required" })).json;
  await page.getByText("No visitor keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Shop");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Copy this secret now").waitFor();
  const secret = await page.locator("dialog code").first().innerText();
  expect(secret).toMatch(/^vsk_[\w-]{43}$/);
  await page.keyboard.press("Escape");
  await page.getByText("Copy this secret now").waitFor();
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const [{ id = "" } = {}] = (await api.call("GET", "/api/visitor-keys")).json.data;
  for (const language of ["PHP", "Node.js"]) {
    await page.getByLabel("Language").selectOption(language);
    const code = page.locator("pre").first();
    await code.getByText(ada.id).waitFor();
    expect(await code.innerText()).toContain(id);
  }
  await page.locator("pre").nth(1).getByText(ada.embed_token).waitFor();
  expect(await page.content()).not.toContain(secret);
  const key = { id, algorithm: "HS256" as const, signWith: new TextEncoder().encode(secret) };
  const token = await signToken(key, ada.id, zoe);
  expect((await sayAs(ada.embed_token, token, "Hello")).status).toBe(200);

  await createKey(owner, "Second");
  expect(await page.getByText("accept tokens yet").count()).toBe(0);
  await api.call("PATCH", `/api/companions/${ada.id}`, { visitor_auth: "off" });
  await page.reload();
  await page.getByText("Second").first().waitFor();
  await page.getByText("Ada doesn't accept tokens yet").waitFor();
  await api.call("PATCH", `/api/companions/${ada.id}`, { visitor_auth: "required" });
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Customer 7");
  const create = page.getByRole("button", { name: "Create key" });
  await create.click();
  await page.getByText("There are 2 visitor keys for these companions already").waitFor();
  await page.getByText("can pose as any visitor of every companion").waitFor();
  await page.getByLabel("Verifies visitors of").selectOption("Companions with certain metadata");
  await page.getByText("can be given to the customer").waitFor();
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel("Field 1").fill("tenant.id");
  await page.getByLabel("Value 1").fill("7");
  expect(await findViolationsInState(page)).toEqual([]);
  await create.click();
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("cell", { name: "Companions with tenant.id = 7" }).waitFor();
  const [bound] = (await api.call("GET", "/api/visitor-keys")).json.data;
  expect(bound).toMatchObject({ name: "Customer 7", metadata: { "tenant.id": "7" } });
  await choose(page, "Customer 7", "Revoke…");
  await page.getByText("your only key for tenant.id = 7").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await choose(page, "Shop", "Revoke…");
  await page.getByText("refused from the next request on").waitFor();
  await page.getByText("Your server must sign with Second by now").waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("Revoked.").waitFor();
  await hasCount(page.getByRole("row"), 3);
  expect((await sayAs(ada.embed_token, token, "Hello")).status).toBe(401);
  await choose(page, "Second", "Revoke…");
  await page.getByText("It is your only key for all companions.").waitFor();
  expect(complaints).toEqual([]);
});

test("takes the public half of a pair, and never sends a private one", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/visitor-keys");
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.postData() ?? ""));
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name").fill("Shop");
  await page.getByLabel("Algorithm").selectOption("ES256");
  const { body } = await prepareKey("ES256");
  const publicJwk = { ...body.public_jwk };
  const field = page.getByLabel("Public key, as a JWK");
  const create = page.getByRole("button", { name: "Create key" });
  for (const [text, sentence] of [
    [JSON.stringify({ ...publicJwk, d: "c2VjcmV0" }), "This is a private key. Nothing was sent"],
    ["-----BEGIN PRIVATE KEY-----", "This is a private key. Nothing was sent"],
    ["hello", "This isn't JSON"],
    [JSON.stringify({ ...publicJwk, crv: "P-384" }), 'For ES256 the key needs "kty": "EC" and "crv": "P-256".'],
    [JSON.stringify({ ...publicJwk, y: undefined }), 'The key has no "y"'],
  ] as const) {
    await field.fill(text);
    await page.getByText(sentence).waitFor();
    expect(await create.isDisabled()).toBe(true);
  }
  await field.fill(JSON.stringify({ ...publicJwk, y: "AAAA" }));
  await create.click();
  await page.getByText("Must be 32 bytes in base64url.").first().waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await field.fill(JSON.stringify(publicJwk));
  await create.click();
  await page.getByText("Key created.").waitFor();
  await page.getByText("any JWT library signs the same header and claims with ES256").waitFor();
  expect(sent.join()).not.toContain('"d"');
  expect((await api.call("GET", "/api/visitor-keys")).json.data).toMatchObject([{ algorithm: "ES256" }]);
  expect(complaints).toEqual([]);
});

test("lets a companion verify its visitors, and says what that is good for", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const path = `/api/companions/${ada.id}`;
  const save = async (settings: object) => {
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => {
      const { visitor_auth, daily_per_visitor } = (await api.call("GET", path)).json;
      return Bun.deepEquals({ visitor_auth, daily_per_visitor }, settings);
    });
    await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" });
  };
  await page.goto(`${world.server.url}/app/companions/${ada.id}/settings?section=visitors`);
  const verify = page.getByLabel("Verify visitors", { exact: true });
  const only = page.getByLabel("Only verified visitors");
  const daily = page.getByLabel("Messages per day and visitor");
  await verify.waitFor();
  expect([await only.count(), await daily.count(), await page.getByText("{{visitor.name}}").count()]).toEqual([
    0, 0, 0,
  ]);
  await verify.check();
  await page.getByText("{{visitor.name}}").waitFor();
  await page.getByText("There's no visitor key yet").waitFor();
  await daily.fill("10001");
  await page.getByText("Must be a whole number from 1 to 10,000.").waitFor();
  await daily.fill("20");
  await save({ visitor_auth: "optional", daily_per_visitor: 20 });
  await only.check();
  await save({ visitor_auth: "required", daily_per_visitor: 20 });
  await verify.uncheck();
  await save({ visitor_auth: "off", daily_per_visitor: null });
  await verify.check();
  await page.getByRole("link", { name: "Create one" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await atPage(page, "Visitor keys");
  expect(complaints).toEqual([]);
});

test("shows who a conversation is with, finds all of theirs, and erases them", async () => {
  const owner = await world.openAs("owner", "/app/companions");
  const { page, api, complaints } = owner;
  const ada = (await api.call("POST", "/api/companions", { name: "Ada", visitor_auth: "optional" })).json;
  const key = await createKey(owner);
  const asZoe = await signToken(key, ada.id, zoe);
  await sayAs(ada.embed_token, asZoe, "Is my bicycle ready?");
  await sayAs(ada.embed_token, asZoe, "And the other one?");
  await sayAs(ada.embed_token, await signToken(key, ada.id, { sub: "customer-7" }), "Who am I?");
  await world.say(ada.embed_token, "Nobody knows me", "0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11");
  await page.goto(`${world.server.url}/app/conversations`);
  const rows = page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem");
  await hasCount(rows, 4);
  await hasCount(rows.getByText("Verified", { exact: true }), 3);
  await rows.getByText("customer-7").waitFor();
  await keepScreenshot(page, "dashboard-visitors");
  await rows.getByRole("link", { name: "Zoë" }).first().click();
  await page.getByRole("button", { name: "Details, notes and tags" }).click();
  await page.getByRole("link", { name: "All of this visitor's conversations" }).click();
  await hasCount(rows, 2);
  expect(new URL(page.url()).searchParams.get("visitor_sub")).toBe(zoe.sub);
  await page.getByText(`Visitor: ${zoe.sub}`).waitFor();
  await rows.nth(0).getByRole("link").click();
  await page.getByRole("button", { name: "Details, notes and tags" }).click();
  const facts = page.locator("dl");
  await facts.waitFor();
  expect(await facts.locator("dd").allInnerTexts()).toEqual([zoe.name, zoe.sub, zoe.email, "pro"]);
  await page.getByRole("log").getByText("And the other one?", { exact: true }).waitFor();
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Erase visitor…" }).click();
  await page
    .getByRole("dialog", { name: `Erase ${zoe.name}?` })
    .getByText(zoe.sub)
    .waitFor();
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await page.getByText("Erased.").waitFor();
  await page.getByText("No conversation matches").waitFor();
  const left = (await api.call("GET", "/api/conversations")).json.data;
  expect(left.map(({ visitor }) => Object(visitor).sub)).toEqual([undefined, "customer-7"]);
  expect(complaints).toEqual([]);
});

test("the hosted page takes the token out of its address at once, and says what is missing without one", async () => {
  const owner = await world.openAs("owner", "/app/companions");
  const { api } = owner;
  const ada = (await api.call("POST", "/api/companions", { name: "Ada", visitor_auth: "required" })).json;
  const token = await signToken(await createKey(owner), ada.id, zoe);
  const address = `${world.server.url}/c/${ada.embed_token}`;
  for (const look of someOf([{}, { colorScheme: "dark" as const, viewport: { width: 360, height: 740 } }])) {
    const { page, complaints } = await world.open(look);
    await page.goto(address);
    await page.getByText("Your link does not identify you").waitFor();
    expect([await findViolations(page), await page.locator("companion-chat").count()]).toEqual([[], 0]);
    await keepScreenshot(page, `page-unknown-visitor${look.colorScheme ? "-dark" : ""}`);

    await page.goto(`${address}#visitor=${token}`);
    const widget = widgetOn(page);
    await widget.askWhenKnown("Do you know me?");
    await widget.replied();
    expect(page.url()).toBe(address);
    await page.reload();
    await widget.questions.getByText("Do you know me?").first().waitFor();
    await page.goto(`${address}#visitor=`);
    await page.getByText("Your link does not identify you").waitFor();
    expect(complaints).toEqual([]);
  }
  const { page } = await world.open();
  // In place of the widget: what another script would have seen.
  const body = "document.title = location.href";
  await page.route("**/widget.js", (route) => route.fulfill({ contentType: "text/javascript", body }));
  await page.goto(`${address}#visitor=${token}`);
  await holds(page, `document.title === ${JSON.stringify(address)}`);
  const [found] = (await api.call("GET", "/api/conversations?visitor_sub=customer%2F42")).json.data;
  expect(found).toMatchObject({ companion_id: ada.id, visitor: zoe, visitor_id: null });
});

test("the hosted page takes a token where one is welcome, and loads nothing for that where none is", async () => {
  const owner = await world.openAs("owner", "/app/companions");
  const make = async (visitor_auth: string) =>
    (await owner.api.call("POST", "/api/companions", { name: "Ada", visitor_auth })).json;
  const [off, optional] = [await make("off"), await make("optional")];
  const token = await signToken(await createKey(owner), optional.id, zoe);
  expect(await (await fetch(`${world.server.url}/c/${off.embed_token}`)).text()).not.toMatch(/visitor|<main/);
  const { page, complaints } = await world.open();
  const address = `${world.server.url}/c/${optional.embed_token}`;
  const widget = widgetOn(page);
  await page.goto(address);
  await widget.askWhenKnown("I am nobody");
  await widget.replied();
  await Promise.all([page.waitForEvent("load"), page.goto(`${address}#visitor=${token}`)]);
  expect(page.url()).toBe(address);
  await widget.askWhenKnown("I am Zoë");
  await widget.replied(2);
  const { data } = (await owner.api.call("GET", `/api/conversations?companion_id=${optional.id}`)).json;
  const arabic = await world.open({ locale: "ar" });
  await arabic.page.goto(`${address}#visitor=${token}x`);
  await widgetOn(arabic.page).askWhenKnown("Me again");
  await widgetOn(arabic.page).notice.getByText("افتح هذه الدردشة من موقعها مرة أخرى").waitFor();
  expect(data).toMatchObject([{ visitor: zoe, message_count: 4 }]);
  expect(complaints).toEqual([]);
});

test("the code of the page, as it is pasted, tells the widget who is signed in to the website", async () => {
  const owner = await world.openAs("owner", "/app/companions");
  const ada = (await owner.api.call("POST", "/api/companions", { name: "Ada", visitor_auth: "required" })).json;
  const token = await signToken(await createKey(owner), ada.id, zoe);
  const { page, complaints } = await world.open();
  const html = `<!doctype html><title>Shop</title><p>Hello</p>${pageSnippet(world.server.url, ada.embed_token)}`;
  using website = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: { [tokenPath]: new Response(token), "/": new Response(html, { headers: { "content-type": "text/html" } }) },
    fetch: () => new Response(null, { status: 204 }),
  });
  await page.goto(`http://127.0.0.1:${website.port}/`);
  const widget = widgetOn(page);
  await widget.open();
  await widget.askWhenKnown("Do you know me?");
  await widget.replied();
  const [found] = (await owner.api.call("GET", "/api/conversations?visitor_sub=customer%2F42")).json.data;
  expect(found).toMatchObject({ companion_id: ada.id, visitor: zoe });
  expect(complaints).toEqual([]);
});

test("the playground tries a companion as a visitor: signed for in the browser, and with its connection cut", async () => {
  const owner = await world.openAs("owner", "/app/companions");
  const { page, api, complaints } = owner;
  const fields = { name: "Ada", visitor_auth: "required", system_prompt: "You talk to {{visitor.name}}." };
  const ada = (await api.call("POST", "/api/companions", fields)).json;
  const { json: key } = await api.call("POST", "/api/visitor-keys", { name: "Shop", algorithm: "HS256" });
  await page.goto(`${world.server.url}/app/companions/${ada.id}/playground`);
  await page.getByText("As a visitor").click();
  const message = page.locator("companion-chat textarea");
  await message.fill("Who am I?");
  await message.press("Enter");
  await page.getByText("Please sign in on this website to use the chat.").first().waitFor();

  await page.getByRole("button", { name: "Chat as…" }).click();
  await page.getByLabel("Secret of the key").fill(String(key.secret));
  await page.getByLabel("ID on your website").fill(zoe.sub);
  await page.getByLabel("Name", { exact: true }).fill("Zoë");
  expect(await findViolationsInState(page)).toEqual([]);
  await page.getByRole("button", { name: "Start chat" }).click();
  await page.getByText("You are Zoë").waitFor();
  expect(await page.content()).not.toContain(String(key.secret));
  const before = world.mockLlm.requests.length;
  await message.fill("[[words:80]][[delay:20]]");
  await message.press("Enter");
  await page.getByText(/word3/).first().waitFor();
  await page.getByRole("button", { name: "Cut the connection" }).click();
  await page.getByText("The connection is cut").waitFor();
  await keepScreenshot(page, "dashboard-playground-cut");
  await page.getByText(/^Cut for .*, and nothing was lost\.$/).waitFor();
  await page.locator(".row.assistant[data-state=done]").waitFor();
  const [conversation] = (await api.call("GET", `/api/conversations?companion_id=${ada.id}`)).json.data;
  expect(conversation).toMatchObject({ message_count: 2, visitor: { sub: zoe.sub, name: "Zoë" } });
  const { messages } = (await api.call("GET", `/api/conversations/${conversation?.id}`)).json;
  const [, reply] = messages as { text: string; complete: boolean }[];
  expect(reply?.complete).toBe(true);
  await page.locator(".row.assistant", { hasText: reply?.text.trim() ?? "" }).waitFor();
  const [request, ...more] = world.mockLlm.requests.slice(before);
  expect(JSON.stringify(request?.body)).toContain("You talk to Zoë.");
  expect(more).toEqual([]);

  // On a phone, while a reply runs that does not end.
  await page.setViewportSize({ width: 360, height: 740 });
  await message.fill("[[words:9]][[silence:5]]");
  await message.press("Enter");
  await page.getByText(/word3/).last().waitFor();
  await page.getByRole("button", { name: "Stop the reply" }).click();
  await page.getByText("You stopped the reply.").first().waitFor();
  expect(complaints).toEqual([]);
});
