/** The pages that people open: a companion's own page, and the welcome page, in the browser. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { findViolations } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { runExecutable } from "../support/executable.ts";
import { someOf } from "../support/full.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

const looks = someOf<[name: string, options: BrowserContextOptions]>(
  [
    ["light", {}],
    ["narrow", { viewport: { width: 360, height: 740 } }],
    ["dark", { colorScheme: "dark" }],
  ],
  2,
);

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld({ args: ["--demo"] });
});
afterAll(() => world[Symbol.asyncDispose]());

test("a companion's page is a whole chat, in light and dark, wide and narrow", async () => {
  const { embed_token } = await world.createCompanion({ name: "Ada <b>&", starters: ["What can you do?"] });
  for (const [name, options] of looks) {
    const { page, complaints } = await world.open(options);
    await page.goto(`${world.server.url}/c/${embed_token}`);
    const widget = widgetOn(page);
    await widget.ask("Hello there");
    await widget.replied();
    expect(await page.title()).toBe("Ada <b>&");
    expect(complaints).toEqual([]);
    await page.evaluate("document.activeElement.blur()");
    await keepScreenshot(page, `page-${name}`);
  }
});

test("the page is installable: title, icon and manifest", async () => {
  const { embed_token } = await world.createCompanion({ theme_color: "#0f766e" });
  const page = await (await fetch(`${world.server.url}/c/${embed_token}`)).text();
  const [, manifestPath = ""] = /rel="manifest" href="([^"]+)"/.exec(page) ?? [];
  const response = await fetch(world.server.url + manifestPath);
  expect(response.headers.get("content-type")).toBe("application/manifest+json");
  const manifest = (await response.json()) as { icons: { src: string }[] };
  expect(manifest).toMatchObject({ name: "Ada", display: "standalone", theme_color: "#0f766e" });
  const icon = new URL(manifest.icons[0]?.src ?? "", response.url);
  expect((await fetch(icon)).headers.get("content-type")).toBe("image/svg+xml");
});

test("framing follows the allowed origins, and the policy forbids everything else", async () => {
  const policyOf = async (token: string) =>
    (await fetch(`${world.server.url}/c/${token}`)).headers.get("content-security-policy") ?? "";
  const open = await world.createCompanion();
  expect(await policyOf(open.embed_token)).toContain("frame-ancestors *;");
  const closed = await world.createCompanion({ allowed_origins: ["https://shop.example", "https://*.shop.example"] });
  const policy = await policyOf(closed.embed_token);
  expect(policy).toContain("frame-ancestors 'self' https://shop.example https://*.shop.example;");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain("unsafe");
});

test("a page of a companion with allowed origins still works, being the server's own", async () => {
  const { embed_token } = await world.createCompanion({ allowed_origins: ["https://shop.example"] });
  const { page } = await world.open();
  await page.goto(`${world.server.url}/c/${embed_token}`);
  const widget = widgetOn(page);
  await widget.ask("Allowed?");
  await widget.replied();
  expect(await widget.notice.isVisible()).toBe(false);
});

test("the page speaks the visitor's language", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open({ locale: "fr-CA" });
  await page.goto(`${world.server.url}/c/${embed_token}`);
  await widgetOn(page).log.getByText("Vous discutez avec un assistant IA.").waitFor();
  expect(await findViolations(page)).toEqual([]);
  const hostile = await fetch(`${world.server.url}/c/${embed_token}`, { headers: { "Accept-Language": '"><script>' } });
  expect(await hostile.text()).toContain('lang="en"');
});

test("no page without a companion", async () => {
  for (const token of ["nonsense", `emb_${"0".repeat(32)}`]) {
    const response = await fetch(`${world.server.url}/c/${token}`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  }
});

test("a dead link leads to a page that says so", async () => {
  const { page } = await world.open({ colorScheme: "dark" });
  const response = await page.goto(`${world.server.url}/c/emb_${"0".repeat(32)}`);
  expect(response?.status()).toBe(404);
  expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
  expect(response?.headers()["content-security-policy"]).not.toContain("script-src");
  expect(await page.locator("main").innerText()).toContain("This chat is not available.");
  expect(await findViolations(page)).toEqual([]);
  await keepScreenshot(page, "page-missing");
});

test("the welcome page shows what runs, the real widget and the next three steps", async () => {
  for (const [name, options] of looks) {
    const { page, complaints } = await world.open({ ...options, permissions: ["clipboard-write"] });
    await page.goto(`${world.server.url}/`);
    const widget = widgetOn(page);
    await widget.element.locator(".starter").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `welcome-${name}`);
    expect(await page.locator("li").count()).toBe(3);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await widget.ask("Hello");
    await widget.replied();
    expect(complaints).toEqual([]);
  }
});

test("an operator's dashboard tells where the demo's companion is, which is in none of their lists", async () => {
  const operator = ["account", "create", "--email", "op@example.com", "--role", "operator", "--password-stdin"];
  const secret = "correct horse battery";
  const made = await runExecutable([...operator, "--data-dir", world.server.dataDir], { input: secret });
  expect(made.exitCode).toBe(0);
  const { page } = await world.open();
  await page.goto(`${world.server.url}/app`);
  await page.getByLabel("Email").fill("op@example.com");
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The demo's companion isn't in this list").waitFor();
  await keepScreenshot(page, "dashboard-demo");
  const path = await page.getByRole("link", { name: "Open chat page" }).getAttribute("href");
  expect(await (await fetch(world.server.url + path)).text()).toContain("<title>Ada</title>");
});

test("the demo's reply goes on where the start page has cut its connection", async () => {
  const { page } = await world.open();
  await page.goto(`${world.server.url}/`);
  const widget = widgetOn(page);
  await widget.ask("[[words:60]][[delay:20]]");
  await widget.replies.last().getByText("word3").waitFor();
  await page.getByRole("button", { name: "Cut the connection" }).click();
  await widget.replied();
  const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
  expect((await widget.replies.last().innerText()).trim()).toBe(words);
});

test("without the demo the start page says what this is and where to go, and nothing of what is inside", async () => {
  await using bare = await openWidgetWorld();
  const read = async () => (await fetch(`${bare.server.url}/`)).text();
  const fresh = await read();
  expect(fresh).toContain("companiond account setup-link");
  for (const [name, options] of looks) {
    const { page, complaints } = await bare.open(options);
    const response = await page.goto(`${bare.server.url}/`);
    expect(response?.headers()["content-security-policy"]).toStartWith("default-src 'none'; ");
    await page.getByRole("heading", { name: "This server is new" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `start-fresh-${name}`);
    expect(complaints).toEqual([]);
  }
  const operator = ["account", "create", "--email", "someone@example.com", "--role", "operator", "--password-stdin"];
  const made = await runExecutable([...operator, "--data-dir", bare.server.dataDir], {
    input: "correct horse battery",
  });
  expect(made.exitCode).toBe(0);
  const { page } = await bare.open();
  await page.goto(`${bare.server.url}/`);
  await page.getByRole("heading", { name: "Chat companions for websites" }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await keepScreenshot(page, "start");
  for (const text of [fresh, await read()]) {
    expect(text).not.toContain("<script");
    expect(text).not.toMatch(/emb_|cmp_live|someone@|version|\d+\.\d+\.\d|gpt|127\.0\.0\.1/);
  }
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("what is not there is a page for browsers, in light and dark, wide and narrow", async () => {
  for (const [name, options] of looks) {
    const { page, complaints } = await world.open(options);
    const response = await page.goto(`${world.server.url}/nope`);
    expect(response?.status()).toBe(404);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, `not-found-${name}`);
    // The browser's console tells of the status itself.
    expect(complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
    await page.getByRole("link", { name: "To the start page" }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
});

test("previews of links and home screens get PNGs of their size", async () => {
  const { embed_token } = await world.createCompanion();
  const html = await (await fetch(`${world.server.url}/c/${embed_token}`)).text();
  const share = /property="og:image" content="([^"]+)"/.exec(html)?.[1] ?? "";
  const touch = /rel="apple-touch-icon" href="([^"]+)"/.exec(html)?.[1] ?? "";
  const sizeOf = async (address: string) => {
    const response = await fetch(new URL(address, world.server.url));
    expect(response.headers.get("content-type")).toBe("image/png");
    expect(response.headers.get("content-encoding")).toBeNull();
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  };
  // Whoever makes a preview asks by the whole address.
  expect(share).toStartWith(`${world.server.url}/`);
  expect(await sizeOf(share)).toEqual([1200, 630]);
  expect(await sizeOf("/share.png")).toEqual([1200, 630]);
  expect(await sizeOf(touch)).toEqual([180, 180]);
  expect(await sizeOf("/favicon.ico")).toEqual([48, 48]);
  const own = await world.createCompanion({ avatar_url: "https://shop.example/ada.png" });
  const ownPage = await (await fetch(`${world.server.url}/c/${own.embed_token}`)).text();
  expect(ownPage).toContain('property="og:image" content="https://shop.example/ada.png"');
  expect(ownPage).toContain('rel="apple-touch-icon" href="https://shop.example/ada.png"');
});

test("a website is printed without the launcher that floats over it, but with a chat that is part of it", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const { launcher } = widgetOn(page);
  await launcher.waitFor();
  await page.emulateMedia({ media: "print" });
  expect(await launcher.isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  expect(await launcher.isVisible()).toBe(true);

  const script = `<script src="${world.server.url}/widget.js" async></script>`;
  await page.goto(world.host(`<companion-chat mode="inline" token="${embed_token}"></companion-chat>${script}`));
  await widgetOn(page).input.waitFor();
  await page.emulateMedia({ media: "print" });
  expect(await widgetOn(page).panel.isVisible()).toBe(true);
});
