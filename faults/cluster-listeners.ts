/** Listeners of conversations that people have: whatever is lost between the instances, each message reaches them once. */
import { announcementChannel } from "../src/engines/postgres/coordination/announcer.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import { type Frame, openEvents, toFrame } from "../test/support/event-frames.ts";
import { eventually } from "../test/support/eventually.ts";
import { connectRaw, type RawVisitor } from "../test/support/raw-visitor.ts";
import type { ClusterCase, ClusterSituation } from "./cluster-case.ts";
import { type Heard, handoffOfRaces, idsOf, nextAddress, PeopleTalk, peopleFaults } from "./people-talk.ts";
import type { Form, Tally } from "./row.ts";
import { inParallel } from "./world.ts";

const grace = { id: "1", name: "Grace" };
/** What is lost on its way to a listener is found within this time. */
const foundWithin = { withinMs: 10_000 };
const late = "messages that did not arrive within 10 s";
const ended = "streams that ended";

async function openTalks({ cluster, tally }: ClusterSituation, count: number): Promise<PeopleTalk[]> {
  const people = await cluster.openPeople(handoffOfRaces);
  const talks = Array.from({ length: count }, () => new PeopleTalk({ ...people, tally }));
  await inParallel(talks, 4, async (talk) => void (await talk.begin()));
  return talks;
}

async function expectAll(tally: Tally, heard: Heard, seq: number, about: string): Promise<void> {
  await eventually(() => idsOf(heard).at(-1) === seq, { ...foundWithin, everyMs: 50 }).catch(() =>
    tally.fault(late, `${about}: ${idsOf(heard).at(-1)} instead of ${seq}`),
  );
}

const talksWithLosses: Record<Form, number> = { tiny: 4, short: 20, long: 60 };
const messagesOfEach: Record<Form, number> = { tiny: 2, short: 6, long: 10 };

export const announcementsCase: ClusterCase = {
  name: "cluster-announcements",
  title: "a third of what instances announce to each other lost",
  story:
    "A person writes at one instance, and the visitor listens at another; every third notification of PostgreSQL's is " +
    "lost on its way to each of them. Every message is there within 10 s, and in the team's inbox as well; a reply under way " +
    "is stopped all the same.",
  never: [...peopleFaults, late, ended, "changes that did not reach the inbox within 10 s", "replies that went on"],
  async run(situation) {
    const { cluster, tally, context } = situation;
    const talks = await openTalks(situation, talksWithLosses[context.form]);
    const lostBefore = countLost(situation);
    for (const { database } of cluster.all) await database.set({ lossyChannel: announcementChannel });
    const key = (await cluster.openPeople(handoffOfRaces)).key;
    const inboxes = await Promise.all(
      cluster.all.map(({ url }) =>
        openEvents(`${url}/api/inbox/events?include_content=true`, { authorization: `Bearer ${key}` }),
      ),
    );
    await inParallel(talks.entries(), 4, async ([at, talk]) => {
      const { here, there } = twoOf(cluster.all, at);
      const listener = await talk.listen(there.url);
      for (let message = 0; message < messagesOfEach[context.form]; message++) {
        const status = await talk.write(grace, here.url);
        if (status !== 201) tally.fault("calls with a wrong response", `a person's message: ${status}`);
        const { seq = 0, text = "" } = talk.written.at(-1) ?? {};
        await expectAll(tally, listener, seq, talk.id);
        await Promise.all(inboxes.map((inbox) => expectInInbox(tally, inbox.frames, talk.id, text)));
        tally.did("messages of people");
      }
      if (listener.isOver) tally.fault(ended, talk.id);
      await talk.team("release", { as: grace }, here.url);
      await stopReply(talk, { ...situation, here, there });
      await talk.judge([listener]);
      listener.close();
    });
    for (const inbox of inboxes) inbox.close();
    tally.atLeast("notifications lost", countLost(situation) - lostBefore, talks.length);
  },
};

const countLost = ({ cluster }: ClusterSituation) =>
  cluster.all.reduce((sum, { database }) => sum + database.lostNotices, 0);

function twoOf(all: readonly Instance[], at: number): { here: Instance; there: Instance } {
  return { here: all[at % 3] as Instance, there: all[(at + 1 + (at % 2)) % 3] as Instance };
}

async function expectInInbox(tally: Tally, frames: readonly Frame[], id: string, text: string): Promise<void> {
  const isThere = () =>
    frames.some(({ event, data }) => event === "conversation" && data.id === id && JSON.stringify(data).includes(text));
  await eventually(isThere, { ...foundWithin, everyMs: 50 }).catch(() =>
    tally.fault("changes that did not reach the inbox within 10 s", `${id}: ${text}`),
  );
}

/** At the instance which may not hear of it. */
async function stopReply(
  talk: PeopleTalk,
  { cluster, tally, here, there }: ClusterSituation & { here: Instance; there: Instance },
): Promise<void> {
  cluster.model.wordMs = 400;
  const known = cluster.model.calls.length;
  const reply = talk.say({ url: there.url });
  const findCall = () => cluster.model.calls.slice(known).find(({ text }) => text.startsWith(talk.sessionId));
  await eventually(() => findCall() !== undefined, { what: "the reply is under way" });
  await talk.team("take", { as: grace }, here.url);
  const { fate } = await reply;
  if (findCall()?.isWhole || fate === "answered") tally.fault("replies that went on", `${talk.id}: ${fate}`);
  tally.did("replies stopped");
}

const kills: Record<Form, number> = { tiny: 2, short: 10, long: 50 };

export const peopleKillCase: ClusterCase = {
  name: "cluster-people-kill",
  title: "kill -9 of the instance that has just kept a person's message",
  story:
    "A person's message is acknowledged by an instance that is killed in the same moment. A listener at another instance " +
    "has it within 10 s, one of the killed instance has it when it comes back elsewhere, and the same message, sent " +
    "again elsewhere, is the same one: each has it once.",
  never: [...peopleFaults, late, ended],
  async run(situation) {
    const { cluster, tally, context } = situation;
    for (let round = 0; round < kills[context.form]; round++) {
      const { here: victim, there: other } = twoOf(cluster.all, round);
      const [talk] = (await openTalks(situation, 1)) as [PeopleTalk];
      if (round % 2 === 1) await talk.team("take", { as: grace }, other.url);
      const listener = await talk.listen(other.url);
      const cut = await talk.listen(victim.url);
      const clientId = crypto.randomUUID();
      const status = await talk.write(grace, victim.url, clientId);
      await victim.kill();
      tally.did("kills");
      if (status !== 201) tally.fault("calls with a wrong response", `a person's message: ${status}`);
      const seq = talk.written.at(-1)?.seq ?? 0;
      await expectAll(tally, listener, seq, talk.id);
      const [again, repeated] = await Promise.all([
        talk.listen(other.url, String(idsOf(cut).at(-1) ?? "")),
        talk.write(grace, other.url, clientId),
      ]);
      if (repeated !== 201) tally.fault("calls with a wrong response", `the same message again: ${repeated}`);
      const resumed = {
        get frames() {
          return [...cut.frames, ...again.frames];
        },
      };
      await expectAll(tally, resumed, seq, talk.id);
      await victim.start();
      if (listener.isOver) tally.fault(ended, talk.id);
      await talk.judge([listener, resumed]);
      for (const one of [listener, again]) one.close();
    }
  },
};

const outages: Record<Form, number> = { tiny: 1, short: 2, long: 5 };
const listening: Record<Form, number> = { tiny: 6, short: 60, long: 200 };
const ofEach = 5;
const awayMs = 3_000;

export const peoplePostgresCase: ClusterCase = {
  name: "cluster-people-postgres",
  title: "PostgreSQL away under a thousand listeners",
  story:
    "A thousand visitors listen at three instances while people write, and all processes of PostgreSQL are killed, or it is " +
    "restarted. The streams stay open and silent, messages are refused with 503 at every instance; afterwards each listener " +
    "has each acknowledged message once.",
  never: [...peopleFaults, late, ended, "streams that were not silent", "messages answered other than 503"],
  async run(situation) {
    const { cluster, tally, context } = situation;
    const talks = await openTalks(situation, listening[context.form]);
    const listeners = new Map<PeopleTalk, RawListener[]>();
    await inParallel(talks.entries(), 4, async ([at, talk]) => {
      const opened = Array.from({ length: ofEach }, (_, one) =>
        listenRaw(cluster.all[(at + one) % 3] as Instance, talk),
      );
      listeners.set(talk, await Promise.all(opened));
    });
    const all = [...listeners.values()].flat();
    tally.did("listeners", all.length);
    for (let round = 0; round < outages[context.form]; round++) {
      await endOnce(situation, talks, all, round % 2 === 1);
      tally.did("outages");
    }
    for (const [talk, heard] of listeners) {
      for (const one of heard) await expectAll(tally, one, talk.written.at(-1)?.seq ?? 0, talk.id);
      await talk.judge(heard);
      for (const one of heard) {
        if (one.visitor.isClosed) tally.fault(ended, `${talk.id}: ${one.visitor.received.slice(-100)}`);
        one.visitor.vanish();
      }
    }
  },
};

async function endOnce(
  { cluster, tally }: ClusterSituation,
  talks: readonly PeopleTalk[],
  all: readonly RawListener[],
  isRestart: boolean,
): Promise<void> {
  const { postgres } = cluster;
  // Some are acknowledged, some refused, and of some it is unknown: those are sent again.
  const clientIds = new Map(talks.map((talk) => [talk, crypto.randomUUID()]));
  let acknowledged = 0;
  const writing = inParallel(clientIds, 8, async ([talk, clientId]) => {
    const status = await talk.write(grace, undefined, clientId).catch(() => 0);
    if (status === 201) acknowledged++;
    tally.did(status === 201 ? "messages acknowledged at the outage" : "messages refused at the outage");
  });
  await Promise.race([eventually(() => acknowledged >= talks.length / 3, { everyMs: 1 }), writing]);
  await (isRestart ? postgres.stop("fast") : postgres.crash());
  await Promise.all(cluster.all.map(({ database }) => database.set("refuse")));
  await writing;
  const counts = all.map((one) => one.frames.length);
  for (const instance of cluster.all) {
    const [talk] = talks as [PeopleTalk];
    const statuses = [await talk.write(grace, instance.url), (await talk.say({ url: instance.url })).status];
    talk.sent.pop();
    for (const status of statuses) if (status !== 503) tally.fault("messages answered other than 503", String(status));
  }
  await Bun.sleep(awayMs);
  for (const [at, one] of all.entries()) {
    if (one.frames.length !== counts[at]) tally.fault("streams that were not silent", one.visitor.received.slice(-200));
  }
  await postgres.start();
  await Promise.all(cluster.all.map(({ database }) => database.set("pass")));
  await cluster.mend();
  await inParallel(clientIds, 8, async ([talk, clientId]) => {
    const status = await talk.write(grace, undefined, clientId);
    if (status !== 201) tally.fault("calls with a wrong response", `the same message afterwards: ${status}`);
  });
}

interface RawListener extends Heard {
  readonly visitor: RawVisitor;
}

/** `fetch` keeps no thousand connections. */
async function listenRaw({ url }: Instance, talk: PeopleTalk): Promise<RawListener> {
  const visitor = await connectRaw(url);
  const headers = Object.entries({ host: new URL(url).host, ...nextAddress() }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  visitor.write(`GET ${talk.livePath} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
  await visitor.until((received) => received.includes("event: state"));
  return {
    visitor,
    get frames() {
      const body = visitor.received.slice(visitor.received.indexOf("\r\n\r\n") + 2);
      const frames = body.replace(/\r\n[0-9a-f]+\r\n/g, "").split("\n\n");
      return frames
        .slice(0, -1)
        .map(toFrame)
        .filter(({ comment }) => comment !== "ping");
    },
  };
}
