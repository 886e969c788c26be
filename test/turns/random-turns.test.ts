/** Thousands of turns that end in every way, at random: their order holds, each ends once, and nothing stays behind. */
import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { LlmProvider, ReplyOutcome, ReplySink } from "../../src/contracts/llm/provider.ts";
import type { Store } from "../../src/contracts/store/store.ts";
import type { Settings } from "../../src/core/dependencies.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { watchProvider } from "../../src/core/metrics/provider-health.ts";
import { createOpenTurns } from "../../src/core/turns/open-turns.ts";
import { createReplyMemory } from "../../src/core/turns/reply-memory.ts";
import { Turn, type TurnServices } from "../../src/core/turns/turn.ts";
import type { TurnStart } from "../../src/core/turns/turn-start.ts";
import { AppError } from "../../src/domain/errors.ts";
import { noPrices } from "../../src/domain/prices.ts";
import { ReplyFailure } from "../../src/domain/reply-failure.ts";
import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";
import { EventStream } from "../../src/http/sse.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { Stop, type StopSignal } from "../../src/lib/stop-signal.ts";
import { freeToSpend, outcomeFacts } from "../support/answered.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noKnowledge } from "../support/no-knowledge.ts";
import { noTools } from "../support/no-tools.ts";
import { createRandom } from "../support/random.ts";
import { turnCompanion as companion } from "../support/turn-companion.ts";
import { countNothing, turnEntry } from "../support/turn-entry.ts";

const turnCount = 3_000;
/** Used up before the end. */
const dailyLimit = 800;
/** More than a reply's own share of the memory. */
const long = "x".repeat(100_000);
const outcomes = {
  complete: { ...outcomeFacts, complete: true, failure: null },
  stopped: { ...outcomeFacts, complete: false, failure: null },
  broken: { ...outcomeFacts, complete: false, failure: new ReplyFailure("It was cut off.", "broken_off") },
} satisfies Record<string, ReplyOutcome>;

function createWorld(seed: number) {
  const random = createRandom(seed);
  const happens = (share: number) => random.next() < share;
  const failSometimes = (share: number) => {
    if (happens(share)) throw new AppError("unavailable", "The store cannot be asked.");
  };
  /** A few turns of the event loop. */
  const pause = async (longest = 6) => {
    for (let left = random.below(longest); left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  };

  const counts = { settled: 0, failedEarly: 0, recorded: 0, failedLate: 0, listeners: 0 };
  const faults: string[] = [];
  /** What works for a conversation, and the last that came in. */
  const working = new Map<string, number>();
  const latest = new Map<string, number>();

  /** No two turns of a conversation work at once, and none after a later one. */
  async function work<Result>(queueKey: string | null, index: number, step: () => Promise<Result>): Promise<Result> {
    if (queueKey === null) return step();
    if (working.has(queueKey)) faults.push(`${index} worked beside ${working.get(queueKey)}`);
    if ((latest.get(queueKey) ?? -1) > index) faults.push(`${index} worked after ${latest.get(queueKey)}`);
    working.set(queueKey, index);
    latest.set(queueKey, index);
    try {
      return await step();
    } finally {
      working.delete(queueKey);
    }
  }

  async function reply(sink: ReplySink, signal: StopSignal): Promise<ReplyOutcome> {
    const stopped = Promise.withResolvers<void>();
    const listener = { handleEvent: stopped.resolve };
    signal.addEventListener("abort", listener);
    counts.listeners++;
    try {
      const kind = random.pick(["plain", "plain", "plain", "long", "endless", "early failure", "late failure"]);
      await pause();
      if (signal.aborted) return outcomes.stopped;
      if (kind === "early failure") {
        counts.failedEarly++;
        throw new AppError("upstream_error", "No.", { cause: new ReplyFailure("It was refused.", "refused_key") });
      }
      for (let left = 1 + random.below(4); left > 0; left--) {
        const behind = sink.emit({ type: "text", deltas: [kind === "long" ? long : "word "] });
        if (behind !== undefined) await Promise.race([behind, stopped.promise]);
        await pause();
        if (signal.aborted) return outcomes.stopped;
      }
      if (kind === "endless") await stopped.promise;
      if (signal.aborted) return outcomes.stopped;
      if (kind === "late failure") counts.failedLate++;
      return kind === "late failure" ? outcomes.broken : outcomes.complete;
    } finally {
      signal.removeEventListener("abort", listener);
      counts.listeners--;
    }
  }

  const measurements = new Measurements();
  const scripted: LlmProvider = {
    name: "scripted",
    streamReply: ({ requestId }, sink, signal) => {
      const [conversation = "", index = ""] = requestId.split("#");
      return work(conversation === "" ? null : conversation, Number(index), () => reply(sink, signal));
    },
    listAnswerers: (model) => [{ provider: "scripted", model }],
    listBounds: ({ model, maxOutputTokens }) => [{ answerer: { provider: "scripted", model }, maxOutputTokens }],
    close() {},
  };
  const clock = createManualClock();
  const services: TurnServices = {
    store: {} as Store,
    llm: watchProvider(scripted, { measurements, calls: null }),
    clock,
    coordination: createMemoryCoordination({
      clock,
      ...countNothing,
      async countMessages() {
        await pause();
        failSometimes(0.5);
        return 0;
      },
    }),
    openTurns: createOpenTurns({ perAddress: 20, getChangeMark: async () => random.below(1_000), lookEveryMs: 1 }),
    settings: {
      llm: { model: "m", models: ["m"], maxOutputTokens: 100 },
      prices: noPrices,
      dailyMessages: { free: dailyLimit, paid: dailyLimit },
    } as unknown as Settings,
    log: createCapturedLog(),
    measurements,
    ids: systemIds,
    knowledge: noKnowledge,
    toolbox: noTools,
    replyMemory: createReplyMemory(),
  };

  function makeTurn(index: number): Turn {
    const queueKey = happens(0.1) ? null : `conversation ${random.below(12)}`;
    const start: TurnStart = {
      companion,
      plan: "free",
      message: "hello",
      requestId: `${queueKey ?? ""}#${index}`,
      address: happens(0.2) ? null : `192.0.2.${random.below(4)}`,
      right: {
        async check() {
          await pause();
          failSometimes(0.02);
          return happens(0.02) ? null : freeToSpend;
        },
        refusal: () => new AppError("not_found", "No such companion."),
      },
      storage: {
        queueKey,
        begin: () =>
          work(queueKey, index, async () => {
            await pause();
            failSometimes(0.03);
            return [];
          }),
        settle: ({ isKept }) =>
          work(queueKey, index, async () => {
            if (!isKept) {
              counts.recorded++;
              return [];
            }
            counts.settled++;
            await pause();
            failSometimes(0.05);
            return [];
          }),
      },
      keyId: null,
      named: null,
      visitor: null,
    };
    return new Turn(services, start);
  }

  return { services, counts, faults, happens, pause, random, makeTurn };
}

test.each([1, 2, 3])("nothing stays of thousands of turns, whatever becomes of them (seed %d)", async (seed) => {
  const { services, counts, faults, happens, pause, random, makeTurn } = createWorld(seed);
  const { coordination, openTurns, measurements } = services;
  const heartbeats = createHeartbeatTicker();

  async function live(index: number): Promise<void> {
    const turn = makeTurn(index);
    const visitor = new AbortController();
    if (happens(0.02)) visitor.abort();
    const stream = new EventStream(visitor.signal, heartbeats);
    let ends = 0;
    stream.onEnd = () => void ends++;
    stream.follow(turn);
    const begun = turn.begin().then(
      () => happens(0.9) && void new Response(stream.body).text().catch(() => {}),
      () => {},
    );
    const fate = random.pick(["stays", "leaves", "is stopped"]);
    await pause(60);
    if (fate === "leaves") visitor.abort();
    if (fate === "is stopped") turn.stop("unavailable", new AppError("not_found", "It was taken away."));
    // An endless reply must end some time.
    if (fate === "stays") await Promise.race([turn.ended, pause(400)]);
    visitor.abort();
    await Promise.all([begun, turn.ended]);
    if (stream.outcome === null) faults.push(`the stream of ${index} did not end`);
    if (ends > 1) faults.push(`the stream of ${index} ended ${ends} times`);
    if (getEventListeners(visitor.signal, "abort").length > 0) faults.push(`${index} still listens to its visitor`);
  }

  const lives: Promise<void>[] = [];
  for (let index = 0; index < turnCount; index++) {
    lives.push(live(index));
    if (happens(0.3)) await pause();
  }
  await Promise.all(lives);

  expect(faults).toEqual([]);
  expect([openTurns.size, openTurns.addressCount, coordination.turns.waitingCount]).toEqual([0, 0, 0]);
  expect([services.replyMemory.held, counts.listeners, heartbeats.interruptAll()]).toEqual([0, 0, false]);
  expect([counts.recorded, measurements.failedReplies.refused_key]).toEqual([counts.failedEarly, counts.failedEarly]);
  expect(measurements.failedReplies.broken_off).toBe(counts.failedLate);
  // The day counts what was settled, and nothing else.
  const entry = turnEntry({ companionId: companion.id });
  const full = await coordination.turns.enter({ ...entry, messagesPerDay: counts.settled }, new Stop());
  const free = await coordination.turns.enter({ ...entry, messagesPerDay: counts.settled + 1 }, new Stop());
  expect([full.isAdmitted, free.isAdmitted]).toEqual([false, true]);
  expect(counts.settled).toBe(dailyLimit);
});
