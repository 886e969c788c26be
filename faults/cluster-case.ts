/** What happens to a cluster: a case runs on a cluster that may have gone through others before. */
import type { Plan } from "../src/domain/account.ts";
import { type Cluster, startCluster } from "../test/support/cluster.ts";
import { type Instance, instanceNames } from "../test/support/cluster-instance.ts";
import { type ClusterLedger, ledgerFaults, type Sent } from "../test/support/cluster-ledger.ts";
import { type FaultRow, type Form, type Outcome, type Random, type RowContext, Tally } from "./row.ts";

export interface ClusterSituation {
  readonly cluster: Cluster;
  readonly ledger: ClusterLedger;
  readonly tally: Tally;
  readonly context: RowContext;
}

export interface ClusterCase {
  /** For `--only`. */
  name: string;
  title: string;
  story: string;
  /** Whose companion it is about; by default the free one, on which the day is as good as unlimited. */
  plan?: Plan;
  /** Faults beside those of the ledger. */
  never: readonly string[];
  run(situation: ClusterSituation): Promise<void>;
}

/** Milliseconds before each word of a reply. Tiny: what counts is that somebody talks meanwhile, not how much. */
export const paces: Record<Form, number> = { tiny: 50, short: 5, long: 5 };

/** Afterwards the cluster is whole again, even if the case could not run to its end. */
export async function runCase(one: ClusterCase, cluster: Cluster, context: RowContext): Promise<Outcome> {
  const tally = new Tally([...ledgerFaults, ...one.never]);
  const ledger = await cluster.openLedger(one.plan);
  cluster.model.wordMs = paces[context.form];
  await one.run({ cluster, ledger, tally, context }).finally(() => cluster.mend());
  for (const { what, example } of await ledger.findFaults(cluster.api(cluster.instances.a.url, one.plan)))
    tally.fault(what, example);
  tally.did("messages", ledger.sent.length);
  tally.did("replies acknowledged", ledger.count("done"));
  return tally.outcome();
}

/** As a row of the table, on a cluster of its own. */
export function rowOf(one: ClusterCase): FaultRow {
  return {
    ...one,
    async run(context) {
      await using cluster = await startCluster();
      return await runCase(one, cluster, context);
    },
  };
}

export interface Visitors extends AsyncDisposable {
  /** Resolves when the last message has its answer. */
  leave(): Promise<void>;
}

/** Each sends its next message when it has the last reply; by default each is in a conversation of its own. */
export function letVisitorsTalk(ledger: ClusterLedger, url: string, conversations: number, ofEach = 1): Visitors {
  let isOver = false;
  const ids = Array.from({ length: conversations }, () => crypto.randomUUID());
  const sessions = Array.from({ length: ofEach }, () => ids).flat();
  const talking = sessions.map((session) => ledger.converse(url, session, () => isOver));
  async function leave(): Promise<void> {
    isOver = true;
    await Promise.all(talking);
  }
  return { leave, [Symbol.asyncDispose]: leave };
}

/** Counts the messages that were answered in another way than is allowed here. */
export function judgeFates(
  tally: Tally,
  what: string,
  sent: readonly Sent[],
  isAllowed: (sent: Sent) => boolean,
): void {
  for (const one of sent) {
    if (one.fate === "done" || isAllowed(one)) continue;
    tally.fault(what, `${one.text}: ${one.fate}, ${one.status} ${one.code ?? ""}, after "${one.reply}"`);
  }
}

export function pickInstance({ instances }: Cluster, random: Random): Instance {
  return instances[random.pick(instanceNames)];
}
