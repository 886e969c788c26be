/** The pages that people open: a companion's own page, and the welcome page, in the browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { findViolations } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

setDefaultTimeout(20_000);

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld({ args: ["--demo"] });
});
afterAll(() => world[Symbol.asyncDispose]());

test("a companion's page is a whole chat, in light and dark, wide and narrow", async () => {
  const { embed_token } = await world.createCompanion({ name: "Ada <b>&", starters: ["What can you do?"] });
  for (const [name, options] of Object.entries({
    "page-light": {},
    "page-dark": { colorScheme: "dark" as const },
    "page-phone": { viewport: { width: 375, height: 700 } },
  })) {
    const { page, complaints } = await world.open(options);
    await page.goto(`${world.server.url}/c/${embed_token}`);
    const widget = widgetOn(page);
    await widget.ask("Hello there");
    await widget.replied();
    expect(await page.title()).toBe("Ada <b>&");
    expect(complaints).toEqual([]);
    await page.evaluate("document.activeElement.blur()");
    await keepScreenshot(page, name);
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

test("who follows a dead link is told so on a page", async () => {
  const { page } = await world.open({ colorScheme: "dark" });
  const response = await page.goto(`${world.server.url}/c/emb_${"0".repeat(32)}`);
  expect(response?.status()).toBe(404);
  expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
  expect(await page.locator("main").innerText()).toContain("This chat is not available.");
  expect(await findViolations(page)).toEqual([]);
  await keepScreenshot(page, "page-missing");
});

test("the welcome page shows what runs, the real widget and the next three steps", async () => {
  for (const [name, options] of Object.entries({
    "welcome-light": { viewport: { width: 1280, height: 900 } },
    "welcome-dark": { viewport: { width: 1280, height: 900 }, colorScheme: "dark" as const },
    "welcome-phone": { viewport: { width: 375, height: 812 } },
  })) {
    const { page, complaints } = await world.open({ ...options, permissions: ["clipboard-write"] });
    await page.goto(`${world.server.url}/`);
    const widget = widgetOn(page);
    await widget.element.locator(".starter").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await keepScreenshot(page, name);
    expect(await page.locator("li").count()).toBe(3);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await widget.ask("Hello");
    await widget.replied();
    expect(complaints).toEqual([]);
  }
});

test("without the demo there is next to nothing to see", async () => {
  await using bare = await openWidgetWorld();
  const response = await fetch(`${bare.server.url}/`);
  expect(response.status).toBe(200);
  const page = await response.text();
  expect(page).toContain("This server is running.");
  expect(page).not.toContain("<script");
  expect(page).not.toMatch(/emb_|version|\/app/);
});
