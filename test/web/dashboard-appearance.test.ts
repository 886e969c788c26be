/** A companion's appearance in the dashboard: edited beside the widget itself, saved, and shown to visitors. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { examine, holds } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const inWidget = (selector: string) =>
  `document.querySelector("companion-chat")?.shadowRoot?.querySelector("${selector}")`;

test("what an owner chooses is drawn in the preview immediately, asks no server, and is what visitors get", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const { id, embed_token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${world.server.url}/app/companions/${id}/appearance`);
  await holds(page, `${inWidget(".panel")}?.offsetHeight > 100`);
  await examine(page, "dashboard-appearance");

  await page.getByLabel("Colour", { exact: true }).fill("#ffffee");
  await page.getByText("Hardly visible on a white page").waitFor();
  await page.getByLabel("Colour", { exact: true }).fill("#0f766e");
  await page.getByText("White text on it reads well").waitFor();
  await press(page, "Tinted");
  await page.getByRole("group", { name: "Side" }).getByRole("button", { name: "Left" }).click();
  await page.getByLabel("Teaser", { exact: true }).fill("Questions? Ask me!");
  await page.getByLabel("Show it after (seconds)").fill("601");
  await press(page, "Add a language");
  await page.getByLabel("Language of greeting 1").fill("de");
  await page.getByLabel("Greeting 1", { exact: true }).fill("Hallo! Wie kann ich helfen?");
  await press(page, "Answering");
  await holds(page, `${inWidget(".log")}?.textContent.includes("Standard shipping")`);
  await press(page, "Phone");
  // All of a phone's chat is in the picture, down to its field.
  const bottomOf = (expression: string) => `${expression}?.getBoundingClientRect().bottom`;
  await holds(page, `${bottomOf(inWidget("textarea"))} < ${bottomOf('document.querySelector(".stage")')}`);
  await press(page, "Desktop");
  await press(page, "Teaser");
  await holds(page, `document.querySelector("companion-chat")?.shadowRoot?.textContent.includes("Questions? Ask me!")`);
  await press(page, "Save");
  await page.getByText("Must be a whole number from 0 to 600.").waitFor();
  await page.getByLabel("Show it after (seconds)").fill("3");
  await press(page, "Save");
  await page.getByText("Saved. Visitors see it within a minute.").waitFor();
  expect(asked.filter((path) => path.startsWith("/api/embed/"))).toEqual([]);

  const config = (await api.call("GET", `/api/embed/${embed_token}`)).json;
  expect(config).toMatchObject({
    theme_color: "#0f766e",
    appearance: {
      ...{ header: "tinted", position: "left", icon: "chat", radius: 16 },
      teaser: { text: "Questions? Ask me!", after_seconds: 3 },
      greetings: { de: "Hallo! Wie kann ich helfen?" },
    },
  });
  expect(complaints).toEqual([]);
});

test("a picture is uploaded, shown and removed; one that is none is refused in words, and loses nothing that is unsaved", async () => {
  const { page, api } = await world.openAs("owner", "/healthz");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const avatar = async () => (await api.call("GET", `/api/companions/${id}`)).json["avatar"];
  await page.goto(`${world.server.url}/app/companions/${id}/appearance`);
  await page.getByLabel("Colour", { exact: true }).fill("#0f766e");
  const give = (buffer: Buffer) =>
    page.locator("input[type=file]").setInputFiles({ name: "face.png", mimeType: "image/png", buffer });
  await give(Buffer.from("no picture"));
  await page.getByRole("alert").waitFor();
  expect(await avatar()).toBeNull();
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 64, height: 64 } });
  await give(picture);
  await page.getByText("Picture uploaded.").waitFor();
  expect(await avatar()).toMatchObject({ url: expect.stringMatching(/^\/avatars\/.+\.webp$/) });
  expect(await page.getByLabel("Colour", { exact: true }).inputValue()).toBe("#0f766e");
  // What is saved then is as guarded as before.
  await api.call("PATCH", `/api/companions/${id}`, { theme_color: "#be185d" });
  await press(page, "Save");
  await page.getByRole("dialog", { name: "Ada was changed while you were editing" }).waitFor();
  await press(page, "Keep editing");
  await press(page, "Remove");
  await page.getByText("Picture removed.").waitFor();
  expect(await avatar()).toBeNull();
  await press(page, "Discard");
  expect(await page.getByLabel("Colour", { exact: true }).inputValue()).toBe("#be185d");
});
