/** How long a visitor's browser keeps a companion's configuration, and what it asks after that. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { openWidgetWorld, type WidgetWorld } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;

beforeAll(async () => {
  world = await openWidgetWorld({ env: { COMPANIOND_RATE_PER_TOKEN: "30" } });
  token = (await world.createCompanion()).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

/** What the server was asked of the configuration so far, in order. */
function asked(): string[] {
  const lines = world.server.log.filter(({ event, route }) => event === "request" && route === "/api/embed/:token");
  return lines.map(({ method, status }) => `${method} ${status}`);
}

test("is asked for once by a page of another website, its reloads and its other tabs, and revalidated without a preflight", async () => {
  const { page } = await world.open();
  const address = world.host("");
  const url = JSON.stringify(`${world.server.url}/api/embed/${token}`);
  const read = (options: string) =>
    page.evaluate(
      `fetch(${url}, ${options}).then(async (answer) => [answer.status, (await answer.json()).name, answer.headers.get("etag")])`,
    );

  await page.goto(address);
  const [status, name, etag] = (await read("{}")) as [number, string, string];
  expect([status, name]).toEqual([200, "Ada"]);
  expect(etag).toMatch(/^"\w+"$/);
  for (let visit = 0; visit < 3; visit++) {
    await page.goto(visit === 1 ? world.host("") : address);
    expect(await read('{ credentials: "omit", referrerPolicy: "no-referrer" }')).toEqual([200, "Ada", etag]);
  }
  await eventually(() => asked().length === 1);
  // As the browser does by itself once the minute is over.
  expect(await read('{ cache: "no-cache" }')).toEqual([200, "Ada", etag]);
  await eventually(() => asked().length === 2);
  expect(asked()).toEqual(["GET 200", "GET 304"]);
  expect(world.server.log.some(({ method }) => method === "OPTIONS")).toBe(false);
});

test("is kept for the client of our own making too", async () => {
  const { embed_token } = await world.createCompanion({ name: "Bea" });
  const before = asked().length;
  const { page } = await world.open();
  const module = JSON.stringify(`${world.server.url}/sdk.js`);
  const options = JSON.stringify({ baseUrl: world.server.url, token: embed_token });
  for (let visit = 0; visit < 3; visit++) {
    await page.goto(world.host(""));
    const config = `import(${module}).then((sdk) => sdk.createCompanion(${options}).config()).then(({ name }) => name)`;
    expect(await page.evaluate(config)).toBe("Bea");
  }
  await eventually(() => asked().length > before);
  expect(asked().slice(before)).toEqual(["GET 200"]);
});
