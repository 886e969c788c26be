/** People who take conversations at the instant in which their visitors write. */
import { eventually } from "../test/support/eventually.ts";
import type { ClusterCase } from "./cluster-case.ts";
import { handoffOfRaces, PeopleTalk, type PeopleWorld, peopleFaults } from "./people-talk.ts";
import { type FaultRow, type Form, type Random, Tally } from "./row.ts";
import { inParallel, makeCompanion, makeOwner, openWorld } from "./world.ts";

const races: Record<Form, number> = { tiny: 10, short: 500, long: 500 };
/** Of one conversation; then the next begins. */
const ofEach = 5;
const atOnce = 4;

const grace = { id: "1", name: "Grace" };
const bo = { id: "2", name: "Bo" };

const faults = [
  ...peopleFaults,
  "conversations that two people took",
  "messages for people that the model was asked for",
  "messages that the model was asked for twice",
];

export const peopleRacesRow: FaultRow = {
  name: "people-races",
  title: "people who take conversations while visitors write",
  story:
    "Two people take a conversation at the instant in which its visitor sends up to three messages, with and without " +
    "stopping the reply under way; then one writes, and gives it back while the visitor writes on. One of the two has it; " +
    "each message is answered by the companion or kept for the person, never both, never lost; a listener has what is stored.",
  async run({ form, random }) {
    const tally = new Tally(faults);
    await using world = await openWorld();
    const { client, key } = await makeOwner(world, tally, "people");
    const companion = await makeCompanion(client, { handoff: handoffOfRaces });
    const people = { visitorsUrl: () => world.url, teamUrl: () => world.url, key, companion, tally };
    const asked = () => world.mock.requests.map(({ userText }) => userText);
    await raceAll(people, asked, races[form], random, "[[delay:2]]");
    return tally.outcome();
  },
};

export const peopleCase: ClusterCase = {
  name: "cluster-people",
  title: "people who take conversations while visitors write, at three instances",
  story:
    "The same through nginx: each request to take a conversation, to write or to listen is answered by any of the instances.",
  never: faults,
  async run({ cluster, tally, context }) {
    cluster.model.wordMs = 3;
    const people = await cluster.openPeople(handoffOfRaces);
    const asked = () => cluster.model.calls.map(({ text }) => text);
    await raceAll({ ...people, tally }, asked, races[context.form], context.random, "");
  },
};

async function raceAll(
  world: PeopleWorld,
  asked: () => readonly string[],
  count: number,
  random: Random,
  directives: string,
): Promise<void> {
  const conversations = Array.from({ length: Math.ceil(count / ofEach) }, () => new PeopleTalk(world));
  await inParallel(conversations, atOnce, async (talk) => {
    await talk.begin();
    const listener = await talk.listen();
    for (let race = 0; race < ofEach; race++) await raceOnce(talk, world.tally, random, directives);
    await talk.judge([listener]);
    listener.close();
  });
  const counts = new Map<string, number>();
  for (const text of asked()) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const [text, times] of counts) {
    if (times > 1) world.tally.fault("messages that the model was asked for twice", `${times} times ${text}`);
  }
  const { tally } = world;
  for (const { sent } of conversations) for (const { fate } of sent) tally.did(`messages: ${fate}`);

  async function raceOnce(talk: PeopleTalk, tally: Tally, random: Random, directives: string): Promise<void> {
    const wait = (ms: number) => Bun.sleep(random.below(ms));
    const say = async (ms: number) => {
      await wait(ms);
      return await talk.say({ isPlain: random.below(3) === 0, directives });
    };
    const stops = [random.below(4) > 0, random.below(4) > 0] as const;
    const take = async (as: object, stop: boolean) => {
      await wait(60);
      return (await talk.team("take", { as, stop })).status;
    };
    const expectStatus = (actual: number, expected: number, what: string) => {
      if (actual !== expected) tally.fault("calls with a wrong response", `${what}: ${actual}`);
    };
    // Who waits for a reply's end looks from a position of the queue, while the companion has the conversation.
    const messages = Array.from({ length: 1 + random.below(stops.includes(false) ? 2 : 3) }, () => say(20));
    const [first, second] = await Promise.all([take(grace, stops[0]), take(bo, stops[1])]);
    const taken = [first, second].filter((status) => status === 200 || status === 202);
    const refused = [first, second].filter((status) => status === 409);
    if (taken.length !== 1 || refused.length !== 1) {
      tally.fault("conversations that two people took", `${talk.id}: ${first} and ${second}`);
    }
    if (taken[0] === 202) {
      // The reply under way ends first.
      await eventually(async () => (await talk.state()) === "person").catch(() =>
        tally.fault("calls with a wrong response", `${talk.id}: reserved and never taken`),
      );
    }
    const [holder, other] = first === 409 ? [bo, grace] : [grace, bo];
    const known = asked().length;
    const after = say(1);
    expectStatus(await talk.write(holder), 201, "the holder's message");
    expectStatus(await talk.write(other), 409, "the other's message");
    const { fate, text } = await after;
    if (fate !== "kept") tally.fault("calls with a wrong response", `${text}: ${fate} though a person has it`);
    if (
      asked()
        .slice(known)
        .some((one) => one.startsWith(text))
    ) {
      tally.fault("messages for people that the model was asked for", text);
    }
    await Promise.all(messages);
    const last = say(30);
    await wait(30);
    expectStatus((await talk.team("release", { as: holder })).status, 204, "the release");
    await last;
    const answered = await say(1);
    if (answered.fate !== "answered") {
      tally.fault("calls with a wrong response", `${answered.text}: ${answered.fate} after the release`);
    }
    tally.did("races");
  }
}
