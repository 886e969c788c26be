/** PostgreSQL and Redis that are away from all instances of a cluster for a while. */
import { type Cluster, requestsPerAddress } from "../test/support/cluster.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import type { Sent } from "../test/support/cluster-ledger.ts";
import { eventually } from "../test/support/eventually.ts";
import { type ClusterCase, type ClusterSituation, judgeFates, letVisitorsTalk } from "./cluster-case.ts";

const crashes = { tiny: 1, short: 5, long: 20 };
const awayMs = 3_000;

export const postgresCase: ClusterCase = {
  name: "cluster-postgres",
  title: "PostgreSQL away for three seconds",
  story:
    "All processes of PostgreSQL are killed while 18 replies run, of which some end meanwhile; every second time it is " +
    "asked to restart. The open streams flow, " +
    "new messages are refused with 503, no instance is ready; once PostgreSQL is back, every reply is stored and ends " +
    "with [DONE], and all instances are ready again without a restart.",
  never: [
    "replies without [DONE] though PostgreSQL came back",
    "streams that stood still",
    "instances that said they were ready",
    "messages answered other than 503",
    "failed messages afterwards",
  ],
  async run(situation) {
    const { postgres } = situation.cluster;
    for (let round = 0; round < crashes[situation.context.form]; round++) {
      const isRestart = round % 2 === 1;
      await endOnce(situation, () => (isRestart ? postgres.stop("fast") : postgres.crash()));
      situation.tally.did(isRestart ? "outages: restarted" : "outages: crashed");
    }
  },
};

async function endOnce({ cluster, ledger, tally }: ClusterSituation, end: () => Promise<void>): Promise<void> {
  const streams = async (wordMs: number): Promise<Promise<Sent>[]> => {
    cluster.model.wordMs = wordMs;
    const known = ledger.calls.length;
    const sending = cluster.all.flatMap(({ url }) => [0, 1, 2].map(() => ledger.send(url, crypto.randomUUID())));
    await eventually(() => ledger.calls.length === known + sending.length, { what: "the model is asked" });
    return sending;
  };
  // Some end before PostgreSQL is back, and some afterwards.
  const lasting = await streams(400);
  const brief = await streams(100);
  ledger.excuseOpenCalls();
  await end();
  // A line that accepts for a server that is away would be a fault of its own.
  await Promise.all(cluster.all.map(({ database }) => database.set("refuse")));
  const back = comeBack(cluster);
  const underWay = ledger.sent.flatMap((sent) => (sent.fate === "open" ? { sent, length: sent.reply.length } : []));
  await Promise.all(cluster.all.map((instance) => judgeAway(instance, { ledger, tally })));
  for (const { sent, length } of underWay) {
    const flows = () => sent.reply.length > length || sent.fate !== "open";
    await eventually(flows).catch(() => tally.fault("streams that stood still", `${sent.text}: ${sent.reply}`));
  }
  await back;
  await cluster.mend();
  const replies = await Promise.all([...lasting, ...brief]);
  judgeFates(tally, "replies without [DONE] though PostgreSQL came back", replies, () => false);
  cluster.model.wordMs = 5;
  const after = await Promise.all(cluster.all.map(({ url }) => ledger.send(url, crypto.randomUUID())));
  judgeFates(tally, "failed messages afterwards", after, () => false);
}

async function comeBack(cluster: Cluster): Promise<void> {
  await Bun.sleep(awayMs);
  await cluster.postgres.start();
  await Promise.all(cluster.all.map(({ database }) => database.set("pass")));
}

/** One that waits until PostgreSQL is back may be answered as well. */
async function judgeAway(instance: Instance, { ledger, tally }: Pick<ClusterSituation, "ledger" | "tally">) {
  const isUnready = async () => !(await instance.isReady());
  await eventually(isUnready, { what: `instance ${instance.name} is not ready`, withinMs: 10_000 }).catch(() =>
    tally.fault("instances that said they were ready", instance.name),
  );
  const { fate, status, code } = await ledger.send(instance.url, crypto.randomUUID());
  if (fate === "done" || (status === 503 && code === "unavailable")) return;
  tally.fault("messages answered other than 503", `${fate}, ${status} ${code}`);
}

const outages = { tiny: 1, short: 3, long: 10 };

export const redisCase: ClusterCase = {
  name: "cluster-redis",
  title: "Redis killed, then swallowing",
  story:
    "Visitors talk while Redis is killed, and once more while it takes bytes and says nothing. Each instance counts on " +
    "its own then: no request fails, and an address gets at most three times its limit. With Redis it gets the limit " +
    "exactly, at whichever instance it asks.",
  never: [
    "5xx responses",
    "messages refused or lost",
    "limits by address that admitted a wrong number with Redis",
    "limits by address that admitted a wrong number without Redis",
    "instances that were not ready",
  ],
  async run(situation) {
    const { cluster, ledger, tally, context } = situation;
    await using visitors = letVisitorsTalk(ledger, cluster.url, 6);
    await expectExact(situation);
    for (let round = 0; round < outages[context.form]; round++) {
      await cluster.redis.kill();
      await expectFallback(situation);
      await cluster.redis.start();
      await expectExact(situation);
      tally.did("outages: killed");
      for (const { redis } of cluster.all) await redis.set("swallow");
      await expectFallback(situation);
      for (const { redis } of cluster.all) await redis.set("pass");
      await expectExact(situation);
      tally.did("outages: swallowing");
    }
    await visitors.leave();
    judgeFates(tally, "messages refused or lost", ledger.sent, () => false);
  },
};

/** How many of many requests one address, which nobody else has, is granted at all instances together. */
async function countAdmitted({ cluster, ledger, tally }: ClusterSituation): Promise<number> {
  const address = `198.18.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`;
  const headers = { "x-forwarded-for": address };
  const requests = cluster.all.flatMap(({ url }) =>
    Array.from({ length: 2 * requestsPerAddress }, () =>
      fetch(`${url}/api/embed/${ledger.companion.token}`, { headers, signal: AbortSignal.timeout(15_000) }),
    ),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  for (const status of statuses.filter((one) => one >= 500)) tally.fault("5xx responses", String(status));
  tally.did("requests of one address", statuses.length);
  return statuses.filter((status) => status === 200).length;
}

/** Instances find Redis again by themselves, one after the other. */
async function expectExact(situation: ClusterSituation): Promise<void> {
  let admitted = 0;
  const isExact = async () => {
    admitted = await countAdmitted(situation);
    return admitted === requestsPerAddress;
  };
  await eventually(isExact, { everyMs: 200 }).catch(() =>
    situation.tally.fault("limits by address that admitted a wrong number with Redis", String(admitted)),
  );
}

async function expectFallback(situation: ClusterSituation): Promise<void> {
  const { cluster, tally } = situation;
  for (let time = 0; time < 3; time++) {
    const admitted = await countAdmitted(situation);
    if (admitted < requestsPerAddress || admitted > cluster.all.length * requestsPerAddress) {
      tally.fault("limits by address that admitted a wrong number without Redis", String(admitted));
    }
  }
  for (const instance of cluster.all) {
    if (!(await instance.isReady())) tally.fault("instances that were not ready", instance.name);
  }
}
