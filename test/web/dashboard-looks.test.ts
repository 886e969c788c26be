/** How the dashboard looks and feels: size, contrast, names for screen readers, keyboard, narrow screens, waiting, failing. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { findViolations } from "../support/axe.ts";
import { holds, keepScreenshot } from "../support/browser.ts";
import {
  atPage,
  type DashboardWorld,
  follow,
  openDashboardWorld,
  type SignedInPage,
} from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";
import { someOf } from "../support/full.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const desk = { width: 1280, height: 860 };
const phone = { width: 360, height: 740 };

const maxSignInBytes = 31_500;
/** With the frame and what the page itself consists of. */
const maxPageBytes = 42_000;

/** Bytes of all that the act loads from the server, as they are with gzip; the API's answers apart. */
async function measureLoad(page: Page, act: () => Promise<void>): Promise<{ bytes: number; files: string[] }> {
  const bodies: Promise<Buffer>[] = [];
  const files: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!/^https?:/.test(response.url()) || pathname.startsWith("/api/")) return;
    files.push(pathname);
    bodies.push(response.body());
  });
  await act();
  await page.waitForLoadState("networkidle");
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body, { level: 9 }).length);
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files };
}

test("the first load is small: signed in, signed out, and on the keys page", async () => {
  // Before anybody has a password, there is another page.
  await world.createAccount("first@example.com");
  const signedOut = await world.open({ isAlone: true });
  const outside = await measureLoad(signedOut.page, async () => {
    await signedOut.page.goto(`${world.server.url}/app`);
    await atPage(signedOut.page, "Sign in");
  });
  expect(outside.bytes).toBeLessThanOrEqual(maxSignInBytes);
  for (const path of ["companions", "api-keys"]) {
    const { page } = await world.openAs("owner", "/healthz", { isAlone: true });
    const inside = await measureLoad(page, async () => {
      await page.goto(`${world.server.url}/app/${path}`);
      await page.getByText(/^No .* yet/).waitFor();
    });
    expect({ path, bytes: inside.bytes }).toEqual({ path, bytes: Math.min(inside.bytes, maxPageBytes) });
    expect(inside.files.filter((file) => file.endsWith(".css"))).toHaveLength(1);
  }
});

test("code comes by the page: the plots' with the usage page alone", async () => {
  const { page } = await world.openAs("owner", "/app/companions", { isAlone: true });
  await page.waitForLoadState("networkidle");
  const usage = await measureLoad(page, async () => {
    await page.getByRole("link", { name: "Usage" }).click();
    await page.locator("canvas").waitFor();
  });
  expect(usage.bytes).toBeGreaterThan(15_000);
  // Black is what a canvas makes of a colour that it does not know.
  const countBlack = `(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((_, at) => at % 4 === 3 && data[at] === 255 && data[at - 1] + data[at - 2] + data[at - 3] === 0).length;
  })()`;
  await holds(page, "document.querySelector('canvas').width > 100");
  expect(await page.evaluate<number>(countBlack)).toBe(0);
  expect(usage.files).not.toContain("/app/usage");
});

test.each([
  ["reduce", 0],
  ["no-preference", 2],
] as const)(
  "to a browser that prefers motion: %s, what breathes or fades makes %d animations",
  async (reducedMotion, count) => {
    const { page } = await world.open({ reducedMotion });
    await page.goto(`${world.server.url}/app/sign-in`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    const drawn = `(() => {
    const one = document.body.appendChild(document.createElement("i"));
    one.className = "animate-[breathe_1.4s_ease-in-out_infinite]";
    one.style.cssText = "display:block;color:red" + (${count > 0} ? ";transition:color 60s" : "");
    getComputedStyle(one).color;
    one.style.color = "blue";
    return one.getAnimations().length;
  })()`;
    expect(await page.evaluate<number>(drawn)).toBe(count);
  },
);

interface Visit {
  name: string;
  path: string;
  /** Done, once it is there. */
  ready: (page: Page) => Promise<unknown>;
}

async function fill(signedIn: SignedInPage): Promise<Visit[]> {
  const { api } = signedIn;
  const made = (
    await api.call("POST", "/api/companions", {
      name: "Ada of the bicycle shop",
      greeting: "Hello! Looking for a bicycle?",
      system_prompt: "You help the customers of a bicycle shop.",
      theme_color: "#0f766e",
      starters: ["When are you open?", "Do you repair e-bikes?"],
      visitor_auth: "optional",
      metadata: { plan: "pro", customer: { id: 42 } },
      handoff: { mode: "any", when: "always" },
    })
  ).json;
  await api.call("POST", "/api/companions", { name: "مساعد المتجر", theme_color: "#be123c", enabled: false });
  await api.call("POST", `/api/companions/${made.id}/embed-tokens`, { name: "Landing page" });
  await api.call("POST", "/api/keys", {
    name: "Billing server",
    scopes: ["companions:read", "companions:write", "usage:read"],
    expires_at: new Date(Date.now() + 40 * 86_400_000).toISOString(),
  });
  const sources = `/api/companions/${made.id}/sources`;
  await api.call("POST", sources, { type: "text", title: "Opening hours", text: "From nine to six." });
  await api.call("POST", sources, { type: "url", url: "http://10.0.0.1/inside", refresh_hours: 24 });
  await api.call("POST", `/api/companions/${made.id}/tools`, {
    name: "find_order",
    url: "https://shop.example/orders",
  });
  await api.call("POST", "/api/webhooks", { url: "https://shop.example/events", events: ["*"], enabled: false });
  await api.call("POST", "/api/visitor-keys", { name: "Shop", algorithm: "HS256" });
  const visitor = "0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11";
  world.mockLlm.respond(async (_, response) => {
    const fragments = ["We have **three** kinds:\n\n", "- city bicycles,\n", "- cargo bicycles,\n", "- road bicycles."];
    for (const part of wholeStream(fragments)) await response.write(part);
    response.end();
  });
  await world.say(made.embed_token, "Which bicycles do you have?", visitor);
  world.mockLlm.respond(null);
  await world.say(made.embed_token, "[[cut:3]]Do you deliver?", visitor);
  await api.call("PATCH", `/api/companions/${made.id}`, { allowed_origins: ["https://shop.example"] });
  const conversation = (await api.call("GET", "/api/conversations")).json.data.at(-1);
  const written = { text: "It arrives **tomorrow**.", client_id: crypto.randomUUID() };
  await api.call("POST", `/api/conversations/${conversation?.id}/messages`, written);
  await api.call("POST", `/api/conversations/${conversation?.id}/notes`, { text: "Parcel 4711" });
  const heading = (title: string) => (page: Page) => atPage(page, title);
  const table = (page: Page) => page.getByRole("table").first().waitFor();
  return [
    { name: "companions", path: "companions", ready: table },
    { name: "new", path: "companions/new", ready: heading("New companion") },
    { name: "overview", path: `companions/${made.id}`, ready: (page) => page.getByText("Failed replies").waitFor() },
    { name: "settings", path: `companions/${made.id}/settings`, ready: heading("Ada of the bicycle shop") },
    {
      name: "knowledge",
      path: `companions/${made.id}/knowledge`,
      ready: (page) => page.getByText("does not lead to a public host").waitFor(),
    },
    {
      name: "tools",
      path: `companions/${made.id}/tools`,
      ready: (page) => page.getByText("find_order").first().waitFor(),
    },
    { name: "install", path: `companions/${made.id}/install`, ready: table },
    { name: "playground", path: `companions/${made.id}/playground`, ready: (page) => page.getByRole("log").waitFor() },
    {
      name: "playground-visitor",
      path: `companions/${made.id}/playground?as=visitor`,
      ready: (page) => page.getByRole("button", { name: "Chat as…" }).waitFor(),
    },
    {
      name: "conversations",
      path: "conversations",
      ready: (page) => page.getByRole("region", { name: "Conversations" }).waitFor(),
    },
    {
      name: "conversation",
      path: `conversations/${conversation?.id}`,
      ready: (page) => page.getByText("cargo bicycles").waitFor(),
    },
    {
      name: "inbox",
      path: `inbox?c=${conversation?.id}`,
      ready: (page) => page.getByLabel("Message to the visitor").waitFor(),
    },
    { name: "members", path: "members", ready: table },
    { name: "usage", path: "usage", ready: (page) => page.locator("canvas").waitFor() },
    { name: "budgets", path: "budgets", ready: heading("Budgets") },
    { name: "usage-split", path: "usage?split=1&days=7", ready: (page) => page.locator("canvas").waitFor() },
    { name: "api-keys", path: "api-keys", ready: table },
    { name: "visitor-keys", path: "visitor-keys", ready: table },
    { name: "webhooks", path: "webhooks", ready: (page) => page.getByText("All events").waitFor() },
    { name: "account", path: "account", ready: table },
    { name: "second-factor", path: "account/second-factor", ready: heading("Two-factor authentication") },
    { name: "accounts", path: "accounts", ready: table },
    { name: "audit", path: "audit", ready: table },
    { name: "insights", path: "insights", ready: heading("Insights") },
    { name: "leads", path: "leads", ready: heading("Leads") },
    { name: "unanswered", path: "unanswered", ready: heading("Knowledge gaps") },
    { name: "server", path: "server", ready: (page) => page.getByText("Test a model").waitFor() },
    { name: "start", path: "start", ready: (page) => page.getByRole("heading", { level: 1 }).waitFor() },
    {
      name: "settings-page",
      path: `companions/${made.id}/settings`,
      ready: (page) => page.getByLabel("Name").first().waitFor(),
    },
    {
      name: "appearance",
      path: `companions/${made.id}/appearance`,
      ready: (page) => page.getByText("Brand").waitFor(),
    },
    { name: "companion-history", path: `companions/${made.id}/history`, ready: heading("Ada of the bicycle shop") },
    {
      name: "companion-conversations",
      path: `companions/${made.id}/conversations`,
      ready: heading("Ada of the bicycle shop"),
    },
    { name: "missing", path: "nothing", ready: heading("Page not found") },
  ];
}

for (const colorScheme of someOf(["light", "dark"] as const)) {
  test(`every page reads well in the ${colorScheme} theme, and fits a screen 360 pixels wide`, async () => {
    const signedIn = await world.openAs("operator", "/app/account", {
      colorScheme,
      reducedMotion: "reduce",
      viewport: desk,
    });
    const { page, complaints } = signedIn;
    const violations: string[] = [];
    const lookAt: Record<"desk" | "phone", (name: string) => Promise<void>> = {
      async desk(name) {
        await page.setViewportSize(desk);
        violations.push(...(await findViolations(page)).map((violation) => `${name}: ${violation}`));
        await keepScreenshot(page, `dashboard-${name}-${colorScheme}`);
      },
      async phone(name) {
        await page.setViewportSize(phone);
        const fits = async () => (await page.evaluate("document.documentElement.scrollWidth")) === phone.width;
        await eventually(fits, { what: `${name} to fit`, everyMs: 50 });
        await keepScreenshot(page, `dashboard-${name}-${colorScheme}-phone`);
      },
    };
    const sizes: (keyof typeof lookAt)[] = ["desk", "phone"];
    for (const { name, path, ready } of await fill(signedIn)) {
      await follow(page, `/app/${path}`);
      await ready(page);
      for (const size of sizes) await lookAt[size](name);
      // The next page begins as this one ends: to lay a page out anew takes as long as to come to it.
      sizes.reverse();
    }
    await page.setViewportSize(desk);
    await page.goto(`${world.server.url}/app/api-keys`);
    await page.getByRole("button", { name: "New key" }).click();
    violations.push(...(await findViolations(page)));
    await keepScreenshot(page, `dashboard-dialog-${colorScheme}`);

    const door = await world.open({ colorScheme, reducedMotion: "reduce" });
    for (const at of ["sign-in", "setup#x", "reset#x", "setup"]) {
      await door.page.goto(`${world.server.url}/app/${at}`);
      await door.page.getByRole("heading", { level: 1 }).waitFor();
      violations.push(...(await findViolations(door.page)));
    }
    expect(violations).toEqual([]);
    await door.page.goto(`${world.server.url}/app/sign-in`);
    await door.page.getByRole("heading", { level: 1 }).waitFor();
    await keepScreenshot(door.page, `dashboard-door-${colorScheme}`);
    expect(complaints).toEqual([]);
  });
}

test("on a screen 360 pixels wide the menu leads to all pages", async () => {
  const { page, complaints } = await world.openAs("operator", "/app/account", { viewport: phone });
  await page.getByRole("button", { name: "Menu" }).click();
  expect((await page.getByRole("dialog", { name: "Menu" }).boundingBox())?.height).toBe(phone.height);
  await page.getByRole("dialog", { name: "Menu" }).getByRole("link", { name: "API keys" }).click();
  await atPage(page, "API keys");
  await page.getByRole("dialog", { name: "Menu" }).waitFor({ state: "hidden" });
  expect(complaints).toEqual([]);
});

test("without prices no page speaks of money, but for one sentence to operators", async () => {
  const owner = await world.openAs("owner", "/app/usage");
  const operator = await world.openAs("operator", "/app/usage");
  for (const { page } of [owner, operator]) {
    await page.getByText("No usage in this period").waitFor();
    expect(await page.getByText(/cost|\$/i).count()).toBe(page === operator.page ? 1 : 0);
    expect(await page.getByRole("link", { name: "Budgets" }).count()).toBe(0);
  }
  await operator.page.getByText("With prices for your models in COMPANIOND_PRICES").waitFor();
});

test("the account's menu is used with keys alone, and the theme chosen in it is kept", async () => {
  const { page, email } = await world.openAs("owner", "/app/companions", { colorScheme: "light" });
  const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const opener = page.getByRole("button", { name: email });
  await opener.focus();
  for (const key of ["Enter", "ArrowUp", "ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
  await eventually(async () => (await ground()) === "rgb(14, 15, 19)");
  await page.keyboard.press("Escape");
  expect(await page.getByRole("menu").count()).toBe(0);
  expect(await page.evaluate("document.activeElement.ariaHasPopup")).toBe("menu");
  const held = Promise.withResolvers<void>();
  await page.route("**/api/session/current", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.reload();
  // Drawn before the server has responded to who is signed in.
  await opener.click();
  expect(await ground()).toBe("rgb(14, 15, 19)");
  await page.getByRole("menuitemradio", { name: "System" }).click();
  await eventually(async () => (await ground()) === "rgb(247, 247, 251)");
  expect(await page.evaluate("document.documentElement.dataset.theme ?? null")).toBeNull();
  held.resolve();
});

const focused = (page: Page) => page.evaluate("document.activeElement?.textContent?.trim()");

test("everything works by keyboard: skipping, going elsewhere, dialogs that keep and return the focus", async () => {
  const { page } = await world.openAs("owner", "/app/companions");
  await page.getByText("No companions yet").waitFor();
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to content");
  const keys = page.getByRole("link", { name: "API keys" });
  await keys.focus();
  await page.keyboard.press("Enter");
  await atPage(page, "API keys");
  await holds(page, "document.activeElement?.tagName === 'H1'");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("New key");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
  expect(await page.getByLabel("Name").evaluate((input) => input.matches(":focus"))).toBe(true);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await holds(page, "document.activeElement?.textContent?.trim() === 'New key'");
});

test("shows that it waits, says what failed, and tries again", async () => {
  const { page } = await world.openAs("owner", "/app/account");
  await page.getByText("This browser").waitFor();
  const held = Promise.withResolvers<void>();
  await page.route("**/api/companions?*", async (route) => {
    await held.promise;
    await route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: '{"detail":"The disk is full."}',
    });
  });
  for (const [name, path] of [
    ["API keys", "keys"],
    ["Visitor keys", "visitor-keys"],
    ["Webhooks", "webhooks"],
    ["Conversations", "conversations"],
    ["Usage", "usage"],
    ["Audit", "audit"],
  ] as const) {
    await page.route(`**/api/${path}*`, (route) => route.abort());
    await page.getByRole("link", { name }).click();
    await page.getByRole("alert").getByText("The server cannot be reached.").first().waitFor();
    await page.unroute(`**/api/${path}*`);
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("alert").nth(1).waitFor({ state: "detached" });
  }
  await page.getByRole("link", { name: "Companions" }).click();
  await page.getByRole("status", { name: "Loading" }).waitFor();
  held.resolve();
  await page.getByRole("alert").getByText("The disk is full.").waitFor();
  await page.unroute("**/api/companions?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No companions yet").waitFor();

  await page.route("**/assets/chunk.*", (route) => route.abort());
  await page.getByRole("link", { name: "New companion" }).first().click();
  await page.getByText("This page could not be loaded").waitFor();
  expect(await page.getByRole("button", { name: "Reload" }).count()).toBe(1);
});
