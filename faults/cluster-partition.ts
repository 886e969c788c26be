/** One instance that reaches neither PostgreSQL nor Redis any more, while visitors still reach it. */
import { startCluster } from "../test/support/cluster.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import type { Sent } from "../test/support/cluster-ledger.ts";
import { eventually } from "../test/support/eventually.ts";
import { type NetworkNamespace, openNetworkNamespace } from "../test/support/network-namespace.ts";
import {
  type ClusterCase,
  type ClusterSituation,
  judgeFates,
  letVisitorsTalk,
  paces,
  pickInstance,
  runCase,
} from "./cluster-case.ts";
import { type FaultRow, skipped } from "./row.ts";

const partitions = { tiny: 1, short: 4, long: 15 };

export const partitionCase: ClusterCase = {
  name: "cluster-partition",
  title: "one instance cut off from PostgreSQL and Redis",
  story:
    "What one instance and the two servers send each other is swallowed, while it is in the middle of replies. It soon " +
    "reports that it is not ready and refuses messages with 503; once the servers' side has given the lines up, its " +
    "conversations go on elsewhere. When the lines are back it is ready again without a restart, and what is stored is " +
    "what visitors received.",
  never: [
    "instances cut off that said they were ready",
    "messages that an instance cut off answered other than 503",
    "conversations that did not go on elsewhere",
    "messages refused or lost at the others",
    "failed messages afterwards",
    "messages lost because PostgreSQL was slow",
  ],
  async run(situation) {
    const { cluster, tally, context } = situation;
    for (let round = 0; round < partitions[context.form]; round++) {
      const victim = pickInstance(cluster, context.random);
      await standStill(victim, situation);
      await cutOff(victim, linesOf(victim), situation);
      tally.did("partitions");
    }
  },
};

/** How one instance loses its servers. */
interface Disturbance {
  cut(): Promise<void>;
  /** The servers' side gives the connections up; where there is a real network, their system does so itself. */
  giveUp(): void;
  mend(): Promise<void>;
}

function linesOf({ database, redis }: Instance): Disturbance {
  const set = async (state: "swallow" | "pass") => void (await Promise.all([database.set(state), redis.set(state)]));
  return { cut: () => set("swallow"), giveUp: () => database.giveUp(), mend: () => set("pass") };
}

/** For less than any deadline: whoever waits for PostgreSQL then waits a little longer. */
async function standStill(victim: Instance, { cluster, ledger, tally }: ClusterSituation): Promise<void> {
  const known = ledger.sent.length;
  await using visitors = letVisitorsTalk(ledger, cluster.url, 6);
  await eventually(() => ledger.sent.length > known + 12);
  await victim.database.set("hold");
  await Bun.sleep(2_000);
  await victim.database.set("pass");
  await visitors.leave();
  judgeFates(tally, "messages lost because PostgreSQL was slow", ledger.sent.slice(known), () => false);
}

async function cutOff(victim: Instance, disturbance: Disturbance, situation: ClusterSituation): Promise<void> {
  const { cluster, ledger, tally } = situation;
  const others = cluster.all.filter((instance) => instance !== victim);
  const sessions = Array.from({ length: 4 }, () => crypto.randomUUID());
  const ofVictim = await openStreams(victim, sessions, situation);
  const bystanders = others.map(({ url }) => letVisitorsTalk(ledger, url, 2));
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(bystanders.map((one) => one.leave()))) };
  const known = ledger.sent.length;

  ledger.excuseOpenCalls(victim.name);
  await disturbance.cut();
  const isUnready = async () => !(await victim.isReady());
  await eventually(isUnready, { what: "the instance that is cut off is not ready", withinMs: 15_000 }).catch(() =>
    tally.fault("instances cut off that said they were ready", victim.name),
  );
  const refused = await ledger.send(victim.url, crypto.randomUUID());
  if (refused.status !== 503 || refused.code !== "unavailable") {
    const example = `${refused.fate}, ${refused.status} ${refused.code}`;
    tally.fault("messages that an instance cut off answered other than 503", example);
  }
  disturbance.giveUp();
  const [elsewhere = victim] = others;
  const next = await Promise.all(sessions.map((session) => ledger.send(elsewhere.url, session)));
  judgeFates(tally, "conversations that did not go on elsewhere", next, () => false);
  await Promise.all(bystanders.map((one) => one.leave()));
  const atOthers = ledger.sent.slice(known).filter((one) => one !== refused);
  judgeFates(tally, "messages refused or lost at the others", atOthers, () => false);

  await disturbance.mend();
  await cluster.mend();
  await Promise.all(ofVictim);
  const after = await Promise.all(cluster.all.map(({ url }) => ledger.send(url, crypto.randomUUID())));
  judgeFates(tally, "failed messages afterwards", after, () => false);
}

/** Replies of some seconds, all of them under way. */
async function openStreams(
  { url, name }: Instance,
  sessions: readonly string[],
  { cluster, ledger, context }: ClusterSituation,
): Promise<Promise<Sent>[]> {
  cluster.model.wordMs = 400;
  const isOpen = (session: string) =>
    ledger.calls.some((call) => call.isOpen && call.instance === name && call.sessionId === session);
  const sending = sessions.map((session) => ledger.send(url, session));
  await eventually(() => sessions.every(isOpen), { what: `the replies of ${name} are under way` });
  cluster.model.wordMs = paces[context.form];
  return sending;
}

const networkCase = (network: NetworkNamespace): ClusterCase => ({
  ...partitionCase,
  async run(situation) {
    const { cluster, context, tally } = situation;
    const { c } = cluster.instances;
    const disturbance = { cut: () => network.cut(), giveUp() {}, mend: () => network.mend() };
    for (let round = 0; round < partitions[context.form]; round++) {
      await cutOff(c, disturbance, situation);
      tally.did("partitions");
    }
  },
});

export const networkRow: FaultRow = {
  name: "cluster-network",
  title: "one instance cut off by the network itself",
  story:
    "The same with an instance in a network of its own, as on another machine, whose packets to and from PostgreSQL and " +
    "Redis are lost: neither end learns what became of the other, and each has to give it up on its own.",
  async run(context) {
    await using network = await openNetworkNamespace();
    if (network === null) return skipped("Networks of their own need root, Linux, and the tools unshare and tc.");
    await using cluster = await startCluster({ network });
    return await runCase(networkCase(network), cluster, context);
  },
};
