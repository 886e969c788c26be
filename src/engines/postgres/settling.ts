/**
 * Settles turns in batches: one batch is under way, the others gather. A batch is one statement and one commit, so the
 * round trip and the disk are paid once for all of its turns.
 */
import type { ReachedBudget } from "../../contracts/store/spending.ts";
import { systemIds } from "../../lib/ids.ts";
import type { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import { type ConversationAddition, messageTypes, toMessageArrays } from "./conversation-writer.ts";
import type { PostgresEngine } from "./engine.ts";
import { toReportParameter } from "./events.ts";
import { concernsItsRows, isCertainlyUndone, unavailable } from "./failures.ts";
import type { OpenTickets } from "./open-tickets.ts";
import type { Parameter } from "./queries.ts";
import { quotaTypes, toQuotaArrays } from "./quota.ts";
import { placeholders, toArrays } from "./rows/columns.ts";
import type { Settlement } from "./settlement.ts";
import { readReached, spendingTypes, toSpendingArrays } from "./spending-ledger.ts";
import { toUsageArrays, usageTypes } from "./usage-writer.ts";

export interface Settling {
  /** Commits that settled turns, and the turns in them. */
  readonly counts: { readonly batches: number; readonly turns: number };
  /**
   * Resolves once durable, with the budgets of its account that its commit was the first to reach. Rejects with
   * `unavailable` if PostgreSQL is away for too long: then it may have happened.
   */
  add(settlement: Settlement): Promise<readonly ReachedBudget[]>;
  /** Settles what waits, if PostgreSQL is there. */
  close(): Promise<void>;
}

interface Waiting extends Settlement {
  /** Turns of the same conversation follow each other, in commits of their own. */
  conversation: string | null;
  characters: number;
  untilMs: number;
  /** After it failed together with others, so that they do not fail with it. */
  isAlone: boolean;
  isOver: boolean;
  resolve(reached: readonly ReachedBudget[]): void;
  reject(error: unknown): void;
}

const maxTurns = 128;
const maxCharacters = 2_000_000;
const usualPatienceMs = 15_000;
const checkEveryMs = 500;
const tryAgainMs = 100;

const textArrays = (count: number): string[] => Array(count).fill("text[]");
const types = [
  "text",
  ...messageTypes,
  ...usageTypes,
  ...textArrays(4),
  ...quotaTypes,
  ...textArrays(11),
  ...spendingTypes,
  "text",
];
export const settleTurns = `SELECT settle_turns(${placeholders(types)})::text AS reached`;

/** `patienceMs`: how long a turn waits for PostgreSQL. */
export function createSettling(
  engine: PostgresEngine,
  tickets: OpenTickets,
  bell: Pick<DeliveryBell, "ring">,
  patienceMs = usualPatienceMs,
): Settling {
  let waiting: Waiting[] = [];
  let underWay: Waiting[] = [];
  let running: Promise<void> | null = null;
  let isClosed = false;
  const counts = { batches: 0, turns: 0 };

  async function run(): Promise<void> {
    const timer = setInterval(giveUp, checkEveryMs);
    // All that are settled in this turn of the event loop go together.
    await null;
    while (waiting.length > 0) {
      underWay = take();
      await settle(underWay);
    }
    clearInterval(timer);
    running = null;
  }

  function take(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const conversations = new Set<string | null>();
    let characters = 0;
    for (const turn of waiting) {
      const isFull = batch.length === maxTurns || characters > maxCharacters || batch[0]?.isAlone === true;
      const fits = !isFull && (batch.length === 0 || !turn.isAlone) && !conversations.has(turn.conversation);
      (fits ? batch : left).push(turn);
      if (fits) characters += turn.characters;
      if (turn.conversation !== null) conversations.add(turn.conversation);
    }
    waiting = left;
    return batch;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    let parameters: Parameter[] | null = null;
    // Until that is known, only the same batch may be sent again: the database knows whether it has it.
    let mayHaveHappened = false;
    for (;;) {
      try {
        parameters ??= toParameters(batch);
        let reached = readReached(await engine.quickPool.once.get(settleTurns, parameters));
        counts.batches++;
        counts.turns += batch.length;
        if (reached.length > 0 || batch.some(({ reported }) => reported !== null)) bell.ring();
        for (const turn of batch) {
          const own = reached.filter(({ accountId }) => accountId === turn.usage.accountId);
          reached = reached.filter((budget) => !own.includes(budget));
          finish(turn, own);
        }
        return;
      } catch (error) {
        if (concernsItsRows(error) && (!mayHaveHappened || isCertainlyUndone(error))) {
          putBack(batch, error);
          return;
        }
        mayHaveHappened = true;
        if (isClosed) for (const turn of batch) fail(turn, error);
        if (batch.every(({ isOver }) => isOver)) return;
        await Bun.sleep(tryAgainMs);
      }
    }
  }

  /** One turn that cannot be settled must not take the others of its batch along. */
  function putBack(batch: readonly Waiting[], error: unknown): void {
    const [turn, ...others] = batch.filter(({ isOver }) => !isOver);
    if (turn === undefined) return;
    if (batch.length > 1) {
      for (const each of [turn, ...others]) each.isAlone = true;
      waiting.unshift(turn, ...others);
      return;
    }
    if (isClosed || isCertainlyUndone(error)) {
      fail(turn, error);
      return;
    }
    // Something is locked: all others go first, except for those that must follow it.
    const follows = ({ conversation }: Waiting) => conversation !== null && conversation === turn.conversation;
    waiting = [...waiting.filter((other) => !follows(other)), turn, ...waiting.filter(follows)];
  }

  function giveUp(): void {
    const nowMs = performance.now();
    for (const turn of [...underWay, ...waiting]) if (nowMs > turn.untilMs) fail(turn, unavailable());
    waiting = waiting.filter(({ isOver }) => !isOver);
  }

  function finish(turn: Waiting, reached: readonly ReachedBudget[]): void {
    if (turn.isOver) return;
    turn.isOver = true;
    if (turn.ticketId !== null) tickets.noteEnded(turn.ticketId);
    turn.resolve(reached);
  }

  function fail(turn: Waiting, error: unknown): void {
    turn.isOver = true;
    turn.reject(error);
  }

  return {
    counts,
    add(settlement) {
      const { kept } = settlement;
      return new Promise((resolve, reject) => {
        waiting.push({
          ...settlement,
          conversation: kept === null ? null : Object.values(kept.key).join(" "),
          characters: countCharacters(kept),
          untilMs: performance.now() + patienceMs,
          isAlone: false,
          isOver: false,
          resolve,
          reject,
        });
        running ??= run();
      });
    },
    async close() {
      isClosed = true;
      await running;
    },
  };
}

/** Call it once for a batch, however often that is sent: the database knows it by the first of them. */
export function toParameters(batch: readonly Settlement[]): Parameter[] {
  const kept = batch.flatMap((turn) => turn.kept ?? []);
  const usage = batch.map((turn) => turn.usage);
  const failed = batch.flatMap((turn) => (turn.failure === null ? [] : [{ ...turn.usage, kind: turn.failure }]));
  const counted = batch.filter(({ isCounted }) => isCounted);
  const ticketIds = batch.flatMap(({ ticketId }) => ticketId ?? []);
  const again = batch.flatMap((turn) => turn.again ?? []);
  const spent = batch.flatMap(({ usage, spent }) => (spent === null ? [] : [{ usage, ...spent }]));
  const reported = batch.flatMap(({ reported }) => reported ?? []);
  const limited = batch.flatMap(({ limited, usage }) => (limited === null ? [] : [{ ...limited, ...usage }]));
  return [
    systemIds.uuid(),
    ...toMessageArrays(kept),
    ...toUsageArrays(usage),
    ...toArrays(failed, [
      ({ accountId }) => accountId,
      ({ companionId }) => companionId,
      ({ day }) => day,
      ({ kind }) => kind,
    ]),
    ...toQuotaArrays(counted.map(({ usage: { companionId, day } }) => ({ kind: "messages", companionId, day }))),
    ticketIds,
    ...toArrays(again, [
      ({ key }) => key.companionId,
      ({ key }) => key.sessionId,
      ({ key }) => key.visitorId ?? "",
      ({ clientId }) => clientId,
      ({ endCode }) => endCode,
    ]),
    ...toArrays(limited, [
      ({ key }) => key.companionId,
      ({ key }) => key.sessionId,
      ({ key }) => key.visitorId,
      ({ arrivalMark }) => arrivalMark,
      ({ day }) => day,
    ]),
    ...toSpendingArrays(spent),
    reported.length === 0 ? null : toReportParameter(reported),
  ];
}

function countCharacters(kept: ConversationAddition | null): number {
  let characters = 0;
  for (const { parts } of kept?.messages ?? []) for (const part of parts) characters += part.text.length;
  return characters;
}
