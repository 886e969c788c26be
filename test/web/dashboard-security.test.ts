/** The dashboard against hostile words, hostile sites and curious accounts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { apiClient } from "../support/api-client.ts";
import { atPage, type DashboardWorld, follow, openDashboardWorld, password } from "../support/dashboard-world.ts";
import { hostileTexts } from "../support/hostile-texts.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_DAILY_FREE: "100000" });
});
afterAll(() => world[Symbol.asyncDispose]());

test("runs under a strict policy, in no frame, and is cached by nobody", async () => {
  for (const path of ["/app", "/app/api-keys", "/app/usage?days=7"]) {
    const response = await fetch(world.server.url + path);
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const html = await response.text();
    expect(html).not.toMatch(/<style|style=|<script>|onload=/);
    for (const [, file = ""] of html.matchAll(/"(\/assets\/[^"]+)"/g)) {
      const asset = await fetch(world.server.url + file);
      expect([asset.status, asset.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
  }
});

/** What the document holds that could run or load something. */
const findDanger = `[...document.body.querySelectorAll("*")].flatMap((element) => {
  const name = element.tagName.toLowerCase();
  const found = /^(script|iframe|object|embed|base|meta|link|form-action|video|audio|portal)$/.test(name) ? [name] : [];
  for (const { name: attribute, value } of element.attributes) {
    if (/^on|^src(set|doc)$|^formaction$/.test(attribute)) found.push(name + " " + attribute);
    if (attribute === "href" && !/^(\\/|#|https?:|mailto:|tel:)/.test(value)) found.push("href " + value);
  }
  return found;
})`;

async function expectHarmless(page: Page, requests: string[]): Promise<void> {
  expect(await page.evaluate(findDanger)).toEqual([]);
  expect(await page.evaluate("window.ran")).toEqual([]);
  const foreign = requests.filter((url) => !url.startsWith(world.server.url) && !/^(data|blob):/.test(url));
  expect(foreign).toEqual([]);
}

test("hostile words run nowhere: names, prompts, metadata, tokens, keys, messages, audit", async () => {
  const { page, api } = await world.openAs("owner", "/app/account");
  const short = hostileTexts.map((text) => [...text].slice(0, 100).join("")).filter((text) => text.trim() !== "");
  const metadata = Object.fromEntries(short.slice(0, 60).map((text, index) => [text, short.at(-index) ?? ""]));
  const hostile = (
    await api.call("POST", "/api/companions", {
      name: short[4],
      system_prompt: hostileTexts.join("\n"),
      greeting: hostileTexts.slice(0, 12).join(" ").slice(0, 1000),
      starters: short.slice(0, 6),
      metadata,
    })
  ).json;
  await Promise.all(short.slice(0, 90).map((name) => api.call("POST", "/api/companions", { name })));
  await Promise.all(
    short.slice(0, 19).map((name) => api.call("POST", `/api/companions/${hostile.id}/embed-tokens`, { name })),
  );
  await Promise.all(short.slice(0, 19).map((name) => api.call("POST", "/api/keys", { name, scopes: ["usage:read"] })));
  for (let at = 0; at < hostileTexts.length; at += 12) {
    const message = hostileTexts.slice(at, at + 12).join("\n\n");
    await world.say(hostile.embed_token, [...message.replaceAll("[[", "[ [")].slice(0, 2000).join(""));
  }
  const conversation = (await api.call("GET", "/api/conversations")).json.data;

  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.addInitScript("window.ran = []; window.pwned = window.alert = (what) => window.ran.push(what);");
  const id = hostile.id;
  const [firstKey = ""] = short;
  const visits: [path: string, shown: string][] = [
    ["companions", short[89] ?? ""],
    [`companions/${id}`, "Latest conversations"],
    [`companions/${id}/settings`, "Profile"],
    [`companions/${id}/install`, short[18] ?? ""],
    [`companions/${id}/playground`, short[5] ?? ""],
    ["api-keys", short[18] ?? ""],
    ["usage", short[4] ?? ""],
    ["audit", "created the API key"],
    ...conversation.slice(0, 20).map(({ id }): [string, string] => [`conversations/${id}`, "You said:"]),
    ["conversations", short[4] ?? ""],
    [`companions?q=${encodeURIComponent(firstKey)}&metadata.${encodeURIComponent(firstKey)}=${firstKey}`, "Remove"],
  ];
  // The scripts of before come with the load.
  await page.goto(`${world.server.url}/app/audit`);
  await page.getByText("created the API key").first().waitFor();
  for (const [path, shown] of visits) {
    await follow(page, `/app/${path}`);
    const place =
      shown === "Remove"
        ? page.getByRole("button", { name: /^Remove/ })
        : page.getByText(shown).filter({ visible: true });
    await place.first().waitFor();
    await expectHarmless(page, requests);
  }
  await page.goto(`${world.server.url}/app/companions/${id}/settings`);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").waitFor();
  await expectHarmless(page, requests);
});

test("signing in never reuses an earlier session", async () => {
  await world.createAccount("fixed@example.com");
  const planted = "A".repeat(43);
  const { page } = await world.open();
  const cookie = { name: "companiond_session", url: world.server.url };
  await page.context().addCookies([{ ...cookie, value: planted }]);
  await page.goto(`${world.server.url}/app`);
  await page.getByLabel("Email").fill("fixed@example.com");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await atPage(page, "Companions");
  const kept = (await page.context().cookies()).find(({ name }) => name === cookie.name);
  expect(kept).toMatchObject({ httpOnly: true, sameSite: "Lax" });
  expect(kept?.value).not.toBe(planted);
  expect(await page.evaluate("document.cookie")).toBe("");
  const read = (value: string) =>
    apiClient(world.server.url, null).call("GET", "/api/session", undefined, { cookie: `${cookie.name}=${value}` });
  expect((await read(planted)).status).toBe(401);

  const first = kept?.value ?? "";
  const again = await page.context().request.post(`${world.server.url}/api/session`, {
    data: { email: "fixed@example.com", password },
  });
  expect(again.status()).toBe(201);
  expect((await read(first)).status).toBe(401);
});

test("a page of another origin, on the same host even, can neither do nor read nor frame anything", async () => {
  const { page, api, email } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const target = world.server.url;
  const html = `<!doctype html><iframe name="sink"></iframe><iframe id="framed" src="${target}/app"></iframe>
<form id="form" method="post" action="${target}/api/companions" enctype="text/plain" target="sink"><input name='{"name":"Forged","greeting":"' value='"}'></form>`;
  using website = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(html, { headers: { "content-type": "text/html" } }),
  });
  // The same host: the browser sends the cookie along, since cookies know no ports.
  await page.goto(`http://127.0.0.1:${website.port}/`);
  const attempts = await page.evaluate(`Promise.all([
    ["POST", "/api/companions", JSON.stringify({ name: "Forged" })],
    ["POST", "/api/session/password", JSON.stringify({ current_password: "${password}", new_password: "owned owned" })],
    ["POST", "/api/keys", JSON.stringify({ name: "Forged", scopes: ["keys:write"] })],
    ["POST", "/api/session", JSON.stringify({ email: "${email}", password: "${password}" })],
    ["DELETE", "/api/companions/${ada.id}"],
    ["DELETE", "/api/session"],
    ["GET", "/api/companions"],
    ["GET", "/api/session"],
  ].flatMap(([method, path, body]) => ["cors", "no-cors"].map(async (mode) => {
    const init = { method, mode, credentials: "include", ...(body ? { body } : {}) };
    if (mode === "cors" && body) init.headers = { "content-type": "application/json" };
    try {
      const response = await fetch("${target}" + path, init);
      return response.type === "opaque" ? "opaque" : await response.text();
    } catch (error) {
      return "refused";
    }
  })))`);
  expect(new Set(attempts as string[])).toEqual(new Set(["opaque", "refused"]));
  await page.evaluate("document.getElementById('form').submit()");
  await page.frame("sink")?.waitForURL(/api/);
  expect(page.frames().some((frame) => frame.url() === `${target}/app`)).toBe(false);

  const companions = (await api.call("GET", "/api/companions")).json.data;
  expect(companions.map(({ name }) => name)).toEqual(["Ada"]);
  expect((await api.call("GET", "/api/keys")).json.data).toEqual([]);
  await page.goto(`${target}/app/companions`);
  await page.getByRole("link", { name: "Ada" }).waitFor();
});

test("shows nothing of another account, whatever the address", async () => {
  const own = await world.openAs("owner", "/app/companions");
  const secret = "Known to its owner alone";
  const made = (await own.api.call("POST", "/api/companions", { name: secret, greeting: secret })).json;
  await world.say(made.embed_token, secret);
  const [conversation] = (await own.api.call("GET", "/api/conversations")).json.data;
  await own.api.call("POST", "/api/keys", { name: secret, scopes: ["usage:read"] });

  for (const role of ["owner", "operator"] as const) {
    const { page, api } = await world.openAs(role, "/app/companions");
    const texts: string[] = [];
    page.on("response", async (response) => texts.push(await response.text().catch(() => "")));
    await page.getByText("No companions yet").waitFor();
    const visits: [path: string, shown: string][] = [
      [`companions/${made.id}`, "There is no such companion"],
      [`companions/${made.id}/install`, "There is no such companion"],
      [`companions/${made.id}/playground`, "There is no such companion"],
      [`conversations/${conversation?.id}`, "This conversation is gone"],
      [`conversations?companion_id=${made.id}`, "No conversation matches"],
      ["usage", "No usage in this period"],
      ["api-keys", "No API keys yet"],
      ["audit", "signed in"],
    ];
    for (const [path, shown] of visits) {
      // By its address, and as if a link led there.
      if (role === "owner") await page.goto(`${world.server.url}/app/${path}`);
      else await follow(page, `/app/${path}`);
      await page.getByText(shown).first().waitFor();
      expect(await page.content()).not.toContain(secret);
    }
    expect(texts.join("\n")).not.toContain(secret);
    expect((await api.call("GET", "/api/accounts")).status).toBe(role === "operator" ? 200 : 403);
    await page.goto(`${world.server.url}/app/accounts`);
    await atPage(page, role === "operator" ? "Accounts" : "Page not found");
  }
});
