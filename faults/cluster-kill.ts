/** Instances that are killed while visitors talk to all of them. */
import { messagesPerPaidDay } from "../test/support/cluster.ts";
import type { Instance } from "../test/support/cluster-instance.ts";
import type { ClusterLedger, Sent } from "../test/support/cluster-ledger.ts";
import { eventually } from "../test/support/eventually.ts";
import { type ClusterCase, type ClusterSituation, judgeFates, letVisitorsTalk, pickInstance } from "./cluster-case.ts";

const kills = { tiny: 3, short: 20, long: 100 };
const talking = { tiny: 9, short: 24, long: 24 };
const deadline = { withinMs: 10_000 };

export const killCase: ClusterCase = {
  name: "cluster-kill",
  title: "kill -9 of one of three instances",
  story:
    "24 visitors talk through nginx to three instances, and one of those is killed in the middle of its replies, " +
    "again and again. Its streams end without [DONE], its conversations go on at the others, and nobody else notices.",
  never: ["messages refused or lost by instances that lived", "conversations of a killed instance that did not go on"],
  async run(situation) {
    const { cluster, ledger, tally, context } = situation;
    await using visitors = letVisitorsTalk(ledger, cluster.url, talking[context.form]);
    for (let round = 0; round < kills[context.form]; round++) {
      // Short replies meet the kill at their end, long ones in the middle.
      cluster.model.wordMs = round % 3 === 2 ? 20 : 1;
      const victim = pickInstance(cluster, context.random);
      await killOne(victim, situation);
      await victim.start();
      tally.did("kills");
      if (round % 10 === 9) context.say(`${round + 1} kills`);
    }
    await visitors.leave();
    judgeFates(tally, "messages refused or lost by instances that lived", ledger.sent, isOfAKill);
  },
};

async function killOne(victim: Instance, { ledger, tally }: ClusterSituation): Promise<void> {
  const openAtVictim = () => ledger.calls.filter((call) => call.isOpen && call.instance === victim.name);
  await eventually(() => openAtVictim().length >= 2, { what: `two replies under way at ${victim.name}`, everyMs: 1 });
  // Whatever has been acknowledged now is to be kept.
  const known = ledger.count("done");
  await eventually(() => ledger.count("done") > known, { what: "a reply is acknowledged", everyMs: 1 });
  await victim.kill();
  const conversations = new Set(openAtVictim().map((call) => call.sessionId));
  const asked = ledger.calls.length;
  const hasGoneOn = (session: string) =>
    ledger.calls.slice(asked).some((call) => call.sessionId === session && call.instance !== victim.name);
  for (const session of conversations) {
    await eventually(() => hasGoneOn(session), deadline).catch(() =>
      tally.fault("conversations of a killed instance that did not go on", session),
    );
  }
}

/** The stream broke off, or nginx had no answer from the instance, or none was left to ask while another was starting. */
function isOfAKill({ fate, status, code }: Sent): boolean {
  return fate === "cut" || fate === "broken" || (status === 502 && code === null);
}

const rounds = { tiny: 1, short: 5, long: 25 };

export const burstCase: ClusterCase = {
  name: "cluster-burst",
  title: "a day's quota used up under kills",
  story:
    "Two visitors in each of ten conversations send messages until the companion's day is used up, while instances are " +
    "killed at random moments. Nothing is admitted over the quota, and the slots of killed turns are released.",
  never: ["messages refused or lost for another reason", "quotas that admitted a wrong number"],
  async run({ cluster, tally, context }) {
    for (let round = 0; round < rounds[context.form]; round++) {
      const ledger = await cluster.openLedger("paid");
      const day = today();
      await useUp(ledger, { cluster, tally, context });
      await cluster.mend();
      const api = cluster.api(cluster.instances.a.url, "paid");
      // The places of the last killed turns are free again a moment later.
      const isUsedUp = async () => {
        const { code } = await ledger.send(cluster.url, crypto.randomUUID());
        return code === "quota_exceeded" && (await ledger.countStored(api)) >= messagesPerPaidDay;
      };
      await eventually(isUsedUp, { what: "the day's quota is used up", withinMs: 20_000, everyMs: 100 }).catch(
        () => {},
      );
      const stored = await ledger.countStored(api);
      // A new day has a quota of its own.
      if (stored !== messagesPerPaidDay && day === today()) {
        tally.fault("quotas that admitted a wrong number", `${stored} instead of ${messagesPerPaidDay}`);
      }
      tally.did("messages", ledger.sent.length);
      tally.did("replies acknowledged", ledger.count("done"));
      judgeFates(tally, "messages refused or lost for another reason", ledger.sent, isOfAKillOrTheQuota);
      for (const { what, example } of await ledger.findFaults(api)) tally.fault(what, example);
    }
  },
};

async function useUp(
  ledger: ClusterLedger,
  { cluster, tally, context }: Omit<ClusterSituation, "ledger">,
): Promise<void> {
  cluster.model.wordMs = 10;
  const isUsedUp = () => ledger.sent.some(({ code }) => code === "quota_exceeded");
  await using visitors = letVisitorsTalk(ledger, cluster.url, 10, 2);
  while (!isUsedUp()) {
    const victim = pickInstance(cluster, context.random);
    const enough = ledger.count("done") + context.random.below(30);
    await eventually(() => isUsedUp() || ledger.count("done") >= enough, { everyMs: 1 });
    await victim.kill();
    tally.did("kills");
    await victim.start();
  }
  await visitors.leave();
}

/** Until it is known that an instance was killed, its turns keep their places in the queue, which may be full then. */
function isOfAKillOrTheQuota(sent: Sent): boolean {
  return isOfAKill(sent) || sent.code === "quota_exceeded" || sent.code === "rate_limited";
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
