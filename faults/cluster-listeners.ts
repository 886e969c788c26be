/** Listeners of conversations that people have: whatever is lost between the instances, each message reaches them once. */
import { announcementChannel } from "../src/engines/postgres/coordination/announcer.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import { type Frame, openEvents } from "../test/support/event-frames.ts";
import { eventually } from "../test/support/eventually.ts";
import type { ClusterCase, ClusterSituation } from "./cluster-case.ts";
import { type Heard, handoffOfRaces, idsOf, PeopleTalk, peopleFaults } from "./people-talk.ts";
import type { Form, Tally } from "./row.ts";
import { inParallel } from "./world.ts";

export const grace = { id: "1", name: "Grace" };
/** What is lost on its way to a listener is found within this time. */
const foundWithin = { withinMs: 10_000 };
export const late = "messages that did not arrive within 10 s";
export const ended = "streams that ended";

export async function openTalks({ cluster, tally }: ClusterSituation, count: number): Promise<PeopleTalk[]> {
  const people = await cluster.openPeople(handoffOfRaces);
  const talks = Array.from({ length: count }, () => new PeopleTalk({ ...people, tally }));
  await inParallel(talks, 4, async (talk) => void (await talk.begin()));
  return talks;
}

export async function expectAll(tally: Tally, heard: Heard, seq: number, about: string): Promise<void> {
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
    "lost before it reaches them. Every message is there within 10 s, and in the team's inbox as well; a reply under way " +
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
