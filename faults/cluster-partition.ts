/** One instance that reaches neither PostgreSQL nor Redis any more, while visitors still reach it. */
import type { Instance } from "../test/support/cluster-instance.ts";
import { eventually } from "../test/support/eventually.ts";
import { type ClusterCase, type ClusterSituation, judgeFates, letVisitorsTalk, pickInstance } from "./cluster-case.ts";

const partitions = { tiny: 1, short: 4, long: 15 };

export const partitionCase: ClusterCase = {
  name: "cluster-partition",
  title: "one instance cut off from PostgreSQL and Redis",
  story:
    "What one instance and the two servers send each other is swallowed, while it is in the middle of replies. It soon " +
    "says that it is not ready and refuses messages with 503; once the servers' side has given the lines up, its " +
    "conversations go on elsewhere. When the lines are back it is ready again without a restart, and what is stored is " +
    "what visitors were told.",
  never: [
    "instances cut off that said they were ready",
    "messages that an instance cut off answered other than 503",
    "conversations that did not go on elsewhere",
    "messages refused or lost at the others",
    "failed messages afterwards",
  ],
  async run(situation) {
    for (let round = 0; round < partitions[situation.context.form]; round++) {
      await cutOff(pickInstance(situation.cluster, situation.context.random), situation);
      situation.tally.did("partitions");
    }
  },
};

async function cutOff(victim: Instance, { cluster, ledger, tally }: ClusterSituation): Promise<void> {
  const others = cluster.all.filter((instance) => instance !== victim);
  cluster.model.wordMs = 400;
  const sessions = Array.from({ length: 4 }, () => crypto.randomUUID());
  const streams = sessions.map((session) => ledger.send(victim.url, session));
  await eventually(() => ledger.calls.filter((call) => call.isOpen && call.instance === victim.name).length >= 4);
  cluster.model.wordMs = 5;
  const bystanders = others.map(({ url }) => letVisitorsTalk(ledger, url, 2));
  const known = ledger.sent.length;

  ledger.cutOff.add(victim.name);
  await Promise.all([victim.database.set("swallow"), victim.redis.set("swallow")]);
  const isUnready = async () => !(await victim.isReady());
  await eventually(isUnready, { what: "the instance that is cut off is not ready", withinMs: 15_000 }).catch(() =>
    tally.fault("instances cut off that said they were ready", victim.name),
  );
  const refused = await ledger.send(victim.url, crypto.randomUUID());
  if (refused.status !== 503 || refused.code !== "unavailable") {
    const example = `${refused.fate}, ${refused.status} ${refused.code}`;
    tally.fault("messages that an instance cut off answered other than 503", example);
  }
  victim.database.giveUp();
  const [elsewhere = victim] = others;
  const next = await Promise.all(sessions.map((session) => ledger.send(elsewhere.url, session)));
  judgeFates(tally, "conversations that did not go on elsewhere", next, () => false);
  for (const visitors of bystanders) await visitors.leave();
  const atVictim = new Set([refused.text]);
  const atOthers = ledger.sent.slice(known).filter(({ text }) => !atVictim.has(text));
  judgeFates(tally, "messages refused or lost at the others", atOthers, () => false);

  await cluster.mend();
  await Promise.all(streams);
  ledger.cutOff.delete(victim.name);
  const after = await Promise.all(cluster.all.map(({ url }) => ledger.send(url, crypto.randomUUID())));
  judgeFates(tally, "failed messages afterwards", after, () => false);
}
