/** The registry of named replies by itself: what it holds, whom it keeps apart, and what it gives up first. */
import { expect, test } from "bun:test";
import type { TurnEnd, TurnEvent, TurnReader } from "../../src/core/turns/events.ts";
import type { KeptReply } from "../../src/core/turns/kept-reply.ts";
import { KeptText, keptReplyBytes, maxKeptBytes } from "../../src/core/turns/kept-text.ts";
import { createNamedReplies, unreadMs } from "../../src/core/turns/named-replies.ts";
import { createReplyMemory, ownBytes, sharedBytes } from "../../src/core/turns/reply-memory.ts";
import { AppError } from "../../src/domain/errors.ts";
import { SharedBudget } from "../../src/lib/shared-budget.ts";
import { createRandom } from "../support/random.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

const name = (messageId: string) => ({ queueKey: "conversation", messageId });

const endless = new SharedBudget({ total: Number.POSITIVE_INFINITY });
const roomy = { kept: endless, long: endless, grow: () => true };

/** A turn that says and ends what it is told to. */
function startTurn(reply: KeptReply) {
  let isStopped = false;
  const told: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const turn = {
    get isStopped() {
      return isStopped;
    },
    ended,
    attach() {},
    leave() {},
    begin: () => Promise.resolve(),
    stop(code: string) {
      isStopped = true;
      told.push(code);
    },
    stopUnread() {
      isStopped = true;
      told.push("unread");
    },
  };
  return {
    told,
    run: (first = () => {}) => reply.run(turn, first),
    say(text: string) {
      const last = reply.text.add([text]);
      reply.take({ type: "text", deltas: [text] });
      return last === null && reply.text.hold();
    },
    end(end: TurnEnd = { type: "end", outcome: "complete" }) {
      reply.take(end);
      resolve();
    },
  };
}

/** A reader that takes nothing more while `isStalled`. */
function listen() {
  const events: TurnEvent[] = [];
  let release = () => {};
  const reader = {
    events,
    heldUnits: 0,
    isStalled: false,
    dropHeld() {},
    take(event: TurnEvent) {
      events.push(event);
      if (!reader.isStalled) return undefined;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    },
    goOn() {
      reader.isStalled = false;
      release();
    },
    get heard() {
      return events.map((event) => (event.type === "text" ? event.deltas.join("") : "")).join("");
    },
    get end() {
      return events.find(({ type }) => type === "end");
    },
  } satisfies TurnReader & Record<string, unknown>;
  return reader;
}

function claim(replies: ReturnType<typeof createNamedReplies>, messageId: string, isResumable = true): KeptReply {
  const reply = replies.claim(name(messageId), "hello", isResumable);
  if (reply === null) throw new Error(`${messageId} is taken`);
  return reply;
}

test("a name is claimed once, until its reply has ended", () => {
  const replies = createNamedReplies(createReplyMemory());
  const reply = claim(replies, "one");
  expect(replies.claim(name("one"), "hello", true)).toBeNull();
  expect(replies.find(name("one"))).toBe(reply);
  const turn = startTurn(reply);
  turn.run();
  expect(replies.claim(name("one"), "hello", true)).toBeNull();
  turn.end();
  expect(replies.find(name("one"))).toBeNull();
  startTurn(claim(replies, "one")).end();
  expect([replies.count, replies.heldBytes]).toEqual([0, 0]);
});

test("a thousand replies that nobody comes back for are each ended once, and hold nothing afterwards", async () => {
  const time = createVirtualTime();
  const replies = createNamedReplies(createReplyMemory(), { after: time.after });
  const turns = Array.from({ length: 1000 }, (_, index) => {
    const reply = claim(replies, String(index));
    const turn = startTurn(reply);
    const follower = reply.follow(0);
    turn.run(() => follower.attach(listen()));
    turn.say("words ".repeat(100));
    return { follower, ...turn };
  });
  expect(replies.heldBytes).toBe(1000 * (keptReplyBytes + 600));
  for (const { follower } of turns) follower.leave();
  await time.pass(unreadMs - 1);
  expect(turns.flatMap(({ told }) => told)).toEqual([]);
  await time.pass(1);
  expect(turns.map(({ told }) => told)).toEqual(Array(1000).fill(["abandoned"]));
  await time.pass(10 * unreadMs);
  // One was whole before the turn could be stopped.
  for (const turn of turns.slice(1)) turn.end({ type: "end", outcome: "broken", code: "abandoned" });
  turns[0]?.end();
  expect(replies.abandonedCount).toBe(999);
  expect([replies.count, replies.heldBytes]).toEqual([0, 0]);
});

test("whoever comes back in time keeps the reply, and two minutes begin anew when they leave", async () => {
  const time = createVirtualTime();
  const reply = claim(createNamedReplies(createReplyMemory(), { after: time.after }), "one");
  const turn = startTurn(reply);
  const first = reply.follow(0);
  turn.run(() => first.attach(listen()));
  first.leave();
  await time.pass(unreadMs - 1);
  const second = reply.follow(0);
  second.attach(listen());
  await time.pass(10 * unreadMs);
  second.leave();
  await time.pass(unreadMs - 1);
  expect(turn.told).toEqual([]);
  await time.pass(1);
  expect(turn.told).toEqual(["abandoned"]);
});

test("a reader that has not passed on what it got gets nothing more until it has", () => {
  const reply = claim(createNamedReplies(createReplyMemory()), "one");
  const turn = startTurn(reply);
  const reader = Object.assign(listen(), { heldUnits: 32 * 1024 });
  const follower = reply.follow(0);
  turn.run(() => follower.attach(reader));
  turn.say("later");
  expect(reader.events).toEqual([]);
  reader.heldUnits = 0;
  follower.advance();
  expect(reader.events).toEqual([{ type: "text", deltas: ["later"] }]);
});

test("what all replies hold is bounded: those that ended longest ago are given up first, then the next that asks", () => {
  const room = 10 * keptReplyBytes;
  const replies = createNamedReplies(createReplyMemory(), { maxBytes: 3 * room });
  const makeRead = (messageId: string) => {
    const reply = claim(replies, messageId);
    const turn = startTurn(reply);
    const reader = listen();
    reader.isStalled = true;
    turn.run(() => reply.follow(0).attach(reader));
    expect(turn.say("x".repeat(room - keptReplyBytes))).toBe(true);
    return { ...turn, reader };
  };
  const [first, second, third] = [makeRead("first"), makeRead("second"), makeRead("third")];
  expect(() => replies.claim(name("fourth"), "hello", true)).toThrow(AppError);
  second.end();
  first.end();
  expect(replies.count).toBe(3);
  // The second one had ended first.
  claim(replies, "fourth");
  expect(second.reader.end).toEqual({ type: "end", outcome: "stopped" });
  expect(first.reader.end).toBeUndefined();
  expect(third.say("y".repeat(2 * room - keptReplyBytes))).toBe(true);
  expect(first.reader.end).toEqual({ type: "end", outcome: "stopped" });
  expect(third.say("z".repeat(room))).toBe(false);
  expect(replies.heldBytes).toBeLessThanOrEqual(3 * room);
});

test("long ones share what all long replies may hold, and of those that ended only they make room for another", () => {
  const memory = createReplyMemory();
  const [elsewhere, others] = [memory.open(), memory.open()];
  expect(elsewhere.growTo(ownBytes + sharedBytes)).toBe(true);
  const replies = createNamedReplies(memory);
  const startRead = (messageId: string) => {
    const reply = claim(replies, messageId);
    const turn = startTurn(reply);
    const reader = Object.assign(listen(), { isStalled: true });
    turn.run(() => reply.follow(0).attach(reader));
    return { ...turn, reply, reader };
  };
  const [short, long, next] = [startRead("short"), startRead("long"), startRead("next")];
  expect(short.say("x".repeat(ownBytes / 2))).toBe(true);
  expect(long.say("x".repeat(ownBytes / 2 + 1))).toBe(false);
  elsewhere.release();
  expect(long.say("x".repeat(sharedBytes / 16))).toBe(true);
  expect(others.growTo(sharedBytes - sharedBytes / 8)).toBe(true);
  short.end();
  expect(next.say("x".repeat(sharedBytes / 16))).toBe(false);
  long.end();
  expect(next.say("x")).toBe(true);
  expect([short.reader.end, long.reader.end]).toEqual([undefined, { type: "end", outcome: "stopped" }]);
  others.release();
  for (const { reply } of [short, next]) reply.cut();
  expect([memory.held, replies.heldBytes]).toEqual([0, 0]);
});

test("a stored reply is held only as long as somebody reads it", async () => {
  const replies = createNamedReplies(createReplyMemory());
  const stored = { question: "hello", isComplete: true, endCode: null, endedAtMs: 0, repeats: 0 };
  const ids = { conversationId: "conversation-1", questionId: "message-1", replyId: "message-2" };
  const reply = replies.open({ ...stored, ...ids, reply: "x".repeat(100_000) }, []);
  const reader = listen();
  reader.isStalled = true;
  const follower = reply.follow(0);
  follower.attach(reader);
  expect(replies.heldBytes).toBe(keptReplyBytes + 100_000);
  expect(reader.heard.length).toBeLessThan(20_000);
  reader.goOn();
  await Promise.resolve();
  await Promise.resolve();
  expect(reader.heard).toHaveLength(100_000);
  expect(reader.end).toEqual({ type: "end", outcome: "complete" });
  expect([replies.count, replies.heldBytes]).toEqual([0, 0]);
});

test("a text reads alike from every place, however it grew", () => {
  const random = createRandom(20);
  const pieces = ["a", "é", "漢", "😀", "word ", "x".repeat(5000), "😀".repeat(3000)];
  for (let round = 0; round < 20; round++) {
    const text = new KeptText(roomy);
    let whole = "";
    while (whole.length < 30_000) {
      const deltas = Array.from({ length: 1 + random.below(3) }, () => pieces[random.below(pieces.length)] ?? "");
      expect(text.add(deltas)).toBeNull();
      whole += deltas.join("");
    }
    expect(text.units).toBe(whole.length);
    expect(text.toString() === whole).toBe(true);
    for (let look = 0; look < 50; look++) {
      const from = random.below(whole.length + 1);
      const isPosition = (whole.codePointAt(from - 1) ?? 0) < 0x10000;
      expect([from, text.isPosition(from)]).toEqual([from, isPosition]);
      if (!isPosition) continue;
      let read = "";
      for (let got = text.read(from); got.length > 0; got = text.read(from + read.length)) {
        for (const piece of got) expect(piece.isWellFormed()).toBe(true);
        read += got.join("");
      }
      expect(read === whole.slice(from)).toBe(true);
    }
    expect(text.isPosition(whole.length + 1)).toBe(false);
    expect(text.read(whole.length)).toEqual([]);
  }
});

test("a text takes what fits into one MiB of UTF-8, and never half a character", () => {
  const text = new KeptText(roomy);
  expect(text.add(["é".repeat(maxKeptBytes / 2 - 1)])).toBeNull();
  expect(text.add(["a😀"])).toBe("a");
  expect(text.add(["bc"])).toBe("b");
  expect(text.add(["c"])).toBe("");
  expect(Buffer.byteLength(text.toString())).toBe(maxKeptBytes);
});
