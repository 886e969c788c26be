/** PostgreSQL that is away from all instances while a crowd listens to conversations that people have. */
import type { Instance } from "../test/support/cluster-instance.ts";
import { toFrame } from "../test/support/event-frames.ts";
import { eventually } from "../test/support/eventually.ts";
import { connectRaw, type RawVisitor } from "../test/support/raw-visitor.ts";
import type { ClusterCase, ClusterSituation } from "./cluster-case.ts";
import { ended, expectAll, grace, late, openTalks } from "./cluster-listeners.ts";
import { type Heard, nextAddress, type PeopleTalk, peopleFaults } from "./people-talk.ts";
import type { Form } from "./row.ts";
import { inParallel } from "./world.ts";

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
