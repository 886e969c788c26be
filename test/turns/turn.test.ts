/** A turn by itself: who reads it, who stops it, and that all it took is given back once, however it ends. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { TurnTicket } from "../../src/contracts/coordination.ts";
import { maxWaitingTurns } from "../../src/contracts/coordination.ts";
import type { ReplyOutcome, ReplySink } from "../../src/contracts/llm/provider.ts";
import type { Store } from "../../src/contracts/store/store.ts";
import type { Settings } from "../../src/core/dependencies.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import type { TurnEvent, TurnReader } from "../../src/core/turns/events.ts";
import { createOpenTurns } from "../../src/core/turns/open-turns.ts";
import { createReplyMemory, ownBytes, sharedBytes } from "../../src/core/turns/reply-memory.ts";
import { Turn, type TurnServices } from "../../src/core/turns/turn.ts";
import type { TurnResult, TurnStart } from "../../src/core/turns/turn-start.ts";
import { AppError } from "../../src/domain/errors.ts";
import { noPrices } from "../../src/domain/prices.ts";
import { ReplyFailure } from "../../src/domain/reply-failure.ts";
import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { Stop, type StopSignal } from "../../src/lib/stop-signal.ts";
import { freeToSpend, outcomeFacts } from "../support/answered.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noKnowledge } from "../support/no-knowledge.ts";
import { noTools } from "../support/no-tools.ts";
import { turnCompanion as companion } from "../support/turn-companion.ts";
import { countNothing, turnEntry } from "../support/turn-entry.ts";

const complete: ReplyOutcome = { ...outcomeFacts, complete: true, failure: null };
const stopped: ReplyOutcome = { ...outcomeFacts, complete: false, failure: null };
const dailyLimit = 3;
const queueKey = "conversation-1";

type Script = (sink: ReplySink, signal: StopSignal) => Promise<ReplyOutcome>;

const say =
  (...texts: string[]): Script =>
  async (sink) => {
    for (const text of texts) await sink.emit({ type: "text", deltas: [text] });
    return complete;
  };

const untilStopped: Script = (sink, signal) =>
  new Promise((resolve) => {
    sink.emit({ type: "text", deltas: ["so far "] });
    signal.addEventListener("abort", { handleEvent: () => resolve(stopped) });
    if (signal.aborted) resolve(stopped);
  });

function createWorld() {
  const clock = createManualClock();
  const world = {
    script: say("Hello ", "you") as Script,
    calls: 0,
    isRightful: true,
    canSettle: true,
    failures: 0,
    settled: [] as TurnResult[],
    log: createCapturedLog(),
    replyMemory: createReplyMemory(),
    openTurns: createOpenTurns({ perAddress: 2, getChangeMark: async () => 1 }),
    coordination: createMemoryCoordination({
      clock,
      ...countNothing,
    }),
  };
  const services: TurnServices = {
    store: {} as Store,
    llm: {
      name: "scripted",
      streamReply(_, sink, signal) {
        world.calls++;
        return world.script(sink, signal);
      },
      listAnswerers: (model) => [{ provider: "scripted", model }],
      listBounds: ({ model, maxOutputTokens }) => [{ answerer: { provider: "scripted", model }, maxOutputTokens }],
      close() {},
    },
    clock,
    coordination: world.coordination,
    openTurns: world.openTurns,
    settings: {
      llm: { model: "m", models: ["m"], maxOutputTokens: 100 },
      prices: noPrices,
      dailyMessages: { free: dailyLimit, paid: dailyLimit },
    } as unknown as Settings,
    log: world.log,
    measurements: new Measurements(),
    ids: systemIds,
    knowledge: noKnowledge,
    toolbox: noTools,
    replyMemory: world.replyMemory,
  };
  const make = (start: Partial<TurnStart> = {}) =>
    new Turn(services, {
      companion,
      plan: "free",
      message: "hello",
      requestId: "request-1",
      address: "192.0.2.1",
      right: {
        check: async () => (world.isRightful ? freeToSpend : null),
        refusal: () => new AppError("not_found", "No such companion."),
      },
      storage: {
        queueKey,
        begin: async () => [],
        async settle(result) {
          if (!world.canSettle) throw new Error("the disk is full");
          if (result.isKept) world.settled.push(result);
          else world.failures++;
          return [];
        },
      },
      keyId: null,
      named: null,
      visitor: null,
      ...start,
    });
  return { world, make };
}

let { world, make } = createWorld();
beforeEach(() => {
  ({ world, make } = createWorld());
});

interface Listener extends TurnReader {
  events: TurnEvent[];
  /** Its texts and its end, in a line. */
  readonly heard: string;
}

function listen(take: () => Promise<void> | undefined = () => undefined): Listener {
  const events: TurnEvent[] = [];
  return {
    events,
    heldUnits: 0,
    dropHeld() {},
    take(event) {
      events.push(event);
      return event.type === "text" ? take() : undefined;
    },
    get heard() {
      return events
        .map((event) => {
          if (event.type === "text") return event.deltas.join("");
          if (event.type !== "end") return `(${event.type})`;
          return `(${event.outcome === "broken" ? event.code : event.outcome})`;
        })
        .join("");
    },
  };
}

async function leftToday(): Promise<number> {
  let left = 0;
  const taken: TurnTicket[] = [];
  for (;;) {
    const entry = turnEntry({ companionId: companion.id, messagesPerDay: dailyLimit });
    const verdict = await world.coordination.turns.enter(entry, new Stop());
    if (!verdict.isAdmitted) break;
    left++;
    taken.push(verdict);
  }
  for (const ticket of taken) ticket.leave();
  return left;
}

/** Whether whoever comes next need not wait for a place in the conversation. */
async function isQueueFree(): Promise<boolean> {
  const impatient = new Stop();
  const entry = turnEntry({ companionId: companion.id, queueKey, messagesPerDay: Number.MAX_SAFE_INTEGER });
  const entering = world.coordination.turns.enter(entry, impatient);
  const isFree = world.coordination.turns.waitingCount === 0;
  if (!isFree) impatient.abort(new Error("It would have to wait."));
  const verdict = await entering.catch(() => null);
  if (verdict?.isAdmitted) verdict.leave();
  return isFree;
}

/** Nothing is held any more but what the day counts. */
async function expectAllGivenBack(countedMessages: number): Promise<void> {
  expect([world.openTurns.size, world.openTurns.addressCount, await isQueueFree()]).toEqual([0, 0, true]);
  expect(world.replyMemory.held).toBe(0);
  expect(await leftToday()).toBe(dailyLimit - countedMessages);
}

describe("a turn's readers", () => {
  test("may be none: it is kept all the same", async () => {
    const turn = make();
    await turn.begin();
    await turn.ended;
    expect(world.settled).toMatchObject([{ reply: [{ type: "text", text: "Hello you" }], complete: true }]);
    await expectAllGivenBack(1);
  });

  test("may be several: each receives every event, and the end once the turn is stored", async () => {
    const readers = [listen(), listen()];
    const turn = make();
    for (const reader of readers) turn.attach(reader);
    await turn.begin();
    await turn.ended;
    expect(readers.map(({ heard }) => heard)).toEqual(["Hello you(complete)", "Hello you(complete)"]);
    await expectAllGivenBack(1);
  });

  test("hold the provider back while one of them does not keep up", async () => {
    const slow = Promise.withResolvers<void>();
    const turn = make();
    const [quick, behind] = [listen(), listen(() => slow.promise)];
    turn.attach(quick);
    turn.attach(behind);
    await turn.begin();
    expect([quick.heard, behind.heard]).toEqual(["Hello ", "Hello "]);
    slow.resolve();
    await turn.ended;
    expect(behind.heard).toBe("Hello you(complete)");
  });

  test("may leave one by one: only the last one's leaving stops the turn, which is kept and counted", async () => {
    world.script = untilStopped;
    const turn = make();
    const [first, second] = [listen(), listen()];
    turn.attach(first);
    turn.attach(second);
    await turn.begin();
    turn.leave(first);
    turn.leave(first);
    expect(turn.isStopped).toBe(false);
    turn.leave(second);
    expect(turn.isStopped).toBe(true);
    await turn.ended;
    expect([first.heard, second.heard]).toEqual(["so far ", "so far "]);
    expect(world.settled).toMatchObject([{ complete: false, failure: null, reply: [{ text: "so far " }] }]);
    await expectAllGivenBack(1);
  });
});

describe("a turn that is stopped", () => {
  test("reports the reason to all its readers; the first one stays", async () => {
    world.script = untilStopped;
    const [reader, turn] = [listen(), make()];
    turn.attach(reader);
    await turn.begin();
    turn.stop("unavailable", new AppError("unavailable", "It was taken away."));
    turn.stop("too_long", new AppError("upstream_error", "It is too long."));
    await turn.ended;
    expect(reader.heard).toBe("so far (unavailable)");
    expect(world.log.events).toMatchObject([{ level: "info", event: "reply ended early" }]);
    await expectAllGivenBack(1);
  });

  test("while it is stored, has ended as it is stored", async () => {
    world.script = async (sink) => {
      sink.emit({ type: "text", deltas: ["one"] });
      return { ...outcomeFacts, complete: false, failure: new ReplyFailure("cut", "broken_off") };
    };
    const reader = listen();
    const stored: TurnResult[] = [];
    const settle = async (result: TurnResult) => {
      turn.stop("cancelled", new AppError("conflict", "It was cancelled."));
      stored.push(result);
      return [];
    };
    const turn = make({ storage: { queueKey, begin: async () => [], settle } });
    turn.attach(reader);
    await turn.begin();
    await turn.ended;
    expect(stored).toMatchObject([{ endCode: "upstream_error" }]);
    expect(reader.heard).toBe("one(upstream_error)");
  });

  test("before the model was asked, costs nothing", async () => {
    world.isRightful = false;
    const turn = make();
    expect(turn.begin()).rejects.toMatchObject({ code: "not_found" });
    await turn.ended;
    expect([world.calls, world.settled.length]).toEqual([0, 0]);
    await expectAllGivenBack(0);
  });

  test("while it waits in the queue, leaves the queue", async () => {
    world.script = untilStopped;
    const [first, waiting] = [make(), make()];
    const reader = listen();
    await first.begin();
    waiting.attach(reader);
    const begun = waiting.begin();
    await eventually(() => world.coordination.turns.waitingCount === 1);
    waiting.leave(reader);
    expect(begun).rejects.toMatchObject({ code: "unavailable" });
    await waiting.ended;
    expect([world.coordination.turns.waitingCount, world.openTurns.size, world.calls]).toEqual([0, 1, 1]);
    first.stop("unavailable", new AppError("unavailable", "The end."));
    await first.ended;
    await expectAllGivenBack(1);
  });
});

describe("all that a turn took is given back", () => {
  test("where the provider fails before its first text, which is counted as a failure and costs nothing", async () => {
    world.script = async () => {
      throw new ReplyFailure("refused", "refused_key");
    };
    const [reader, turn] = [listen(), make()];
    turn.attach(reader);
    expect(turn.begin()).rejects.toMatchObject({ code: "upstream_error" });
    await turn.ended;
    expect([world.failures, world.settled.length]).toEqual([1, 0]);
    await expectAllGivenBack(0);
  });

  test("before the caller learns of a failure: an immediate retry finds everything free", async () => {
    world.script = async () => {
      throw new ReplyFailure("refused", "refused_key");
    };
    const heldWhenTold = make()
      .begin()
      .catch(() => [world.openTurns.size, world.failures]);
    expect(await heldWhenTold).toEqual([0, 1]);
    await expectAllGivenBack(0);
  });

  test("where it breaks off, and the reply is kept as it came", async () => {
    world.script = async (sink) => {
      sink.emit({ type: "text", deltas: ["one ", "two"] });
      return { ...outcomeFacts, complete: false, failure: new ReplyFailure("cut", "broken_off") };
    };
    const [reader, turn] = [listen(), make()];
    turn.attach(reader);
    await turn.begin();
    await turn.ended;
    expect(reader.heard).toBe("one two(upstream_error)");
    expect(world.settled).toMatchObject([{ complete: false, failure: "broken_off", reply: [{ text: "one two" }] }]);
    await expectAllGivenBack(1);
  });

  test("when it cannot be stored, which its readers are told", async () => {
    world.canSettle = false;
    const [reader, turn] = [listen(), make()];
    turn.attach(reader);
    await turn.begin();
    await turn.ended;
    expect(reader.heard).toBe("Hello you(unavailable)");
    expect(world.log.events).toMatchObject([{ level: "error", event: "turn not kept" }]);
    // Whether it is durable is not known: it stays counted.
    await expectAllGivenBack(1);
  });

  test("where something fails that should not, and no one waits for ever", async () => {
    const [reader, turn] = [listen(), make()];
    world.script = async (sink) => {
      sink.emit({ type: "text", deltas: ["one"] });
      return {
        ...complete,
        get usage(): null {
          throw new Error("a defect");
        },
      };
    };
    turn.attach(reader);
    await turn.begin();
    await turn.ended;
    expect(reader.heard).toBe("one(unavailable)");
    expect(world.log.events).toMatchObject([{ level: "error", event: "turn failed" }]);
    expect([world.openTurns.size, await isQueueFree()]).toEqual([0, true]);
  });

  test("where the queue or the address is full, and nothing was taken but that", async () => {
    world.script = untilStopped;
    const open = [make(), make()];
    const begun = open.map((turn) => turn.begin());
    for (let waiting = 1; waiting < maxWaitingTurns; waiting++) {
      const turn = make({ address: null });
      open.push(turn);
      begun.push(turn.begin());
    }
    await eventually(() => world.calls === 1 && world.coordination.turns.waitingCount === maxWaitingTurns);
    expect(make({ address: "192.0.2.3" }).begin()).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("conversation"),
    });
    expect(make().begin()).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("address"),
    });
    await eventually(() => world.openTurns.size === open.length);
    for (const turn of open) turn.stop("unavailable", new AppError("unavailable", "The end."));
    await Promise.allSettled([...begun, world.openTurns.whenEnded()]);
    await expectAllGivenBack(1);
  });

  test("where a long reply held some of the memory that all share", async () => {
    const text = "x".repeat(ownBytes);
    world.script = async (sink) => {
      sink.emit({ type: "text", deltas: [text] });
      expect(world.replyMemory.held).toBeWithin(1, sharedBytes);
      return complete;
    };
    const turn = make();
    await turn.begin();
    await turn.ended;
    expect(world.settled).toMatchObject([{ reply: [{ text }], complete: true }]);
    await expectAllGivenBack(1);
  });
});

test("a turn that is stopped before the first text is kept without a reply", async () => {
  world.script = (_, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", { handleEvent: () => resolve(stopped) }));
  const [reader, turn] = [listen(), make()];
  turn.attach(reader);
  const begun = turn.begin();
  await eventually(() => world.calls === 1);
  turn.leave(reader);
  await begun;
  await turn.ended;
  expect(world.settled).toMatchObject([{ reply: [], complete: false, failure: null, firstTextMs: null }]);
  await expectAllGivenBack(1);
});
