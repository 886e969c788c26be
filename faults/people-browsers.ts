/** People and visitors against each other in real browsers whose lines are cut at random: all sides read the same. */
import type { BrowserContext } from "playwright-core";
import { apiClient } from "../test/support/api-client.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { eventually } from "../test/support/eventually.ts";
import { startFaultProxy } from "../test/support/fault-proxy.ts";
import { wholeStream } from "../test/support/mock-llm-replies.ts";
import { apiFaults } from "./client.ts";
import { type BrowserLine, BrowsingPerson, BrowsingVisitor } from "./people-pages.ts";
import { handoffOfRaces, readMessages } from "./people-talk.ts";
import { type FaultRow, type Random, Tally } from "./row.ts";
import { makeCompanion, makeOwner, type Owner, openWorld, password, signIn, type World } from "./world.ts";

const visitorCount = { tiny: 2, short: 10, long: 10 };
const personCount = { tiny: 1, short: 2, long: 2 };
const seconds = { tiny: 20, short: 120, long: 600 };
/** Of the 200 messages that a widget keeps, some may have no text to show. */
const widgetShows = 190;

const roomy = {
  COMPANIOND_LIVE_RATE_PER_IP: "1000000",
  COMPANIOND_LIVE_PER_IP: "1000",
  COMPANIOND_ASKS_PER_IP: "1000000",
  COMPANIOND_MAX_MEMBERS_FREE: "10",
};

export const peopleBrowsersRow: FaultRow = {
  name: "people-browsers",
  title: "two people and ten visitors in browsers whose lines are cut",
  story:
    "Ten visitors write in the widget and two people in the dashboard's inbox, in real browsers, for ten minutes; each " +
    "line is cut, refused or mute at random, and pages are reloaded. At the end every visitor's widget, every person's " +
    "inbox and the API have the same messages in the same order, and each that was sent is there once.",
  async run({ form, random, say }) {
    const tally = new Tally([
      ...apiFaults,
      "messages that were sent and are not there once",
      "widgets that differ from the API",
      "inboxes that differ from the API",
      "errors of pages",
    ]);
    await using world = await openWorld({ env: roomy });
    await using undo = new AsyncDisposableStack();
    const owner = await makeOwner(world, tally, "browsers");
    const companion = await makeCompanion(owner.client, { handoff: handoffOfRaces });
    world.mock.respond(async ({ userText }, response) => {
      for (const part of wholeStream(`You said: ${userText}. I have many slow words for that.`.split(/(?<= )/))) {
        await Bun.sleep(60);
        if (response.isClosed) return;
        await response.write(part);
      }
      response.end();
    });
    const open = (cookie: string | null) => openLine(world, cookie, tally, undo);
    const people = await Promise.all(
      (await invite(world, owner, tally)).slice(0, personCount[form]).map(async (cookie, at) => {
        return new BrowsingPerson(await open(cookie), `Person ${at + 1}`, random);
      }),
    );
    const visitors = await Promise.all(
      Array.from({ length: visitorCount[form] }, async (_, at) => {
        return new BrowsingVisitor(await open(null), companion.token, `Visitor ${at + 1}`, random);
      }),
    );
    const all = [...people, ...visitors];
    const untilMs = performance.now() + seconds[form] * 1_000;
    const isOver = () => performance.now() > untilMs;
    await Promise.all([...all.map((one) => one.live(isOver)), cutAll(all, isOver, random, tally)]);
    say("everything has been said");
    for (const { line } of all) await line.proxy.set("pass");
    await Promise.all(visitors.map((visitor) => visitor.settle()));
    say("the visitors are settled");
    await judge(world, owner, { people, visitors, companionId: companion.id, say }, tally);
    return tally.outcome();
  },
};

async function openLine(
  world: World,
  cookie: string | null,
  tally: Tally,
  undo: AsyncDisposableStack,
): Promise<BrowserLine> {
  const proxy = undo.use(await startFaultProxy(Number(new URL(world.url).port)));
  const url = `http://127.0.0.1:${proxy.port}`;
  const browser = await launchBrowser();
  const context: BrowserContext = await browser.newContext({ reducedMotion: "reduce" });
  undo.defer(() => context.close());
  const [name = "", value = ""] = (cookie ?? "").split("=");
  if (cookie !== null) await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
  const page = await context.newPage();
  page.on("pageerror", (error) => tally.fault("errors of pages", String(error.stack ?? error)));
  return { page, url, proxy };
}

/** The owner's own cookie, and a colleague's. */
async function invite(world: World, { email }: Owner, tally: Tally): Promise<string[]> {
  const client = await signIn(world, tally, email);
  const body = { email: "grace@shop.example", name: "Grace", role: "responder" };
  const { json } = await client.send({ method: "POST", path: "/api/members", body });
  await client.send({ method: "PATCH", path: "/api/members/me", body: { name: "Olive" } });
  const secret = String(json["url"]).split("#")[1];
  const spent = await apiClient(world.url, null).call("POST", "/api/session/invitation", { secret, password });
  return [client.credentials["cookie"] ?? "", spent.headers.get("set-cookie")?.split(";", 1)[0] ?? ""];
}

async function cutAll(
  all: readonly { line: BrowserLine }[],
  isOver: () => boolean,
  random: Random,
  tally: Tally,
): Promise<void> {
  while (!isOver()) {
    await Bun.sleep(random.below(1_500));
    const proxy = all[random.below(all.length)]?.line.proxy;
    if (proxy === undefined) return;
    const state = random.pick(["pass", "refuse", "swallow"] as const);
    await proxy.set(state);
    proxy.cut();
    tally.did(state === "pass" ? "lines cut" : state === "refuse" ? "lines refused" : "lines mute");
    if (state !== "pass") setTimeout(() => void proxy.set("pass"), 500 + random.below(4_000));
  }
}

interface Sides {
  people: readonly BrowsingPerson[];
  visitors: readonly BrowsingVisitor[];
  companionId: string;
  say(sentence: string): void;
}

async function judge(
  world: World,
  owner: Owner,
  { people, visitors, companionId, say }: Sides,
  tally: Tally,
): Promise<void> {
  const api = apiClient(world.url, owner.key);
  const { json } = await api.call("GET", `/api/conversations?companion_id=${companionId}&limit=100`);
  // First each person sends what still waits: it is sent where its conversation is open.
  await Promise.all(
    people.map(async (person) => {
      for (const { id } of json.data) await person.settle(id);
      say(`${person.name} is settled`);
    }),
  );
  const texts = new Map<string, string[]>();
  for (const { id } of json.data) {
    const messages = await readMessages(api, id);
    texts.set(
      id,
      messages.map(({ text }) => text.trim()).filter((text) => text !== ""),
    );
  }
  const stored = [...texts.values()];
  tally.did("conversations", stored.length);
  tally.did("messages stored", stored.flat().length);
  for (const { sent, name } of [...people, ...visitors]) {
    tally.did(name.startsWith("P") ? "messages of people" : "messages of visitors", sent.length);
    for (const text of sent) {
      const times = stored.flat().filter((one) => one === text).length;
      if (times !== 1) tally.fault("messages that were sent and are not there once", `${text} ${times} times`);
    }
  }
  say("everything is stored");
  for (const visitor of visitors) {
    const own = [...texts].find(([, one]) => one.some((text) => visitor.sent.includes(text)));
    const all = own?.[1] ?? [];
    const difference = await differ(() => visitor.read(), all, Math.min(all.length, widgetShows));
    if (difference === null) continue;
    const history = (await api.call("GET", `/api/conversations/${own?.[0]}/events?limit=100`)).text;
    say(`${visitor.name}: ${history}`);
    tally.fault("widgets that differ from the API", `${visitor.name}: ${difference}`);
  }
  for (const person of people) {
    for (const [id, expected] of texts) {
      const difference = await differ(() => person.read(id), expected);
      if (difference !== null) tally.fault("inboxes that differ from the API", `${person.name}, ${id}: ${difference}`);
    }
  }
}

/** Null if at least so many of the newest are shown, and nothing else. */
async function differ(
  read: () => Promise<string[]>,
  all: readonly string[],
  least = all.length,
): Promise<string | null> {
  let shown: string[] = [];
  let expected = all;
  const isSame = async () => {
    shown = (await read()).map((text) => text.trim());
    expected = all.slice(-Math.max(least, shown.length));
    return JSON.stringify(shown) === JSON.stringify(expected);
  };
  try {
    await eventually(isSame, { withinMs: 35_000, everyMs: 500 });
    return null;
  } catch {
    const at = expected.findIndex((text, index) => shown[index] !== text);
    const from = Math.max(0, at - 1);
    return `${shown.length} of ${expected.length}, from ${at}: ${JSON.stringify([shown.slice(from, from + 3), expected.slice(from, from + 3)])}`;
  }
}
