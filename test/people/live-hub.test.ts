/** What listeners get, in which order, and what becomes of it where announcements are lost and streams are cut. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { InboxEvent } from "../../src/core/people/live.ts";
import { eventually } from "../support/eventually.ts";
import {
  accountId,
  createHubs,
  FakeConversations,
  type Follower,
  follow,
  grace,
  handoff,
  noteChanged,
  plainRight,
  settle,
} from "../support/live-store.ts";
import { createRandom } from "../support/random.ts";

let conversations: FakeConversations;
beforeEach(() => {
  conversations = new FakeConversations();
  conversations.add("c");
});

function openOne() {
  const [one] = createHubs(1, conversations.store);
  if (one === undefined) throw new Error("no hub");
  return one;
}

const typing = (isTyping: boolean) =>
  ({
    accountId,
    companionId: "companion",
    conversationId: "c",
    by: "person",
    personId: "g",
    name: "G",
    isTyping,
  }) as const;

describe("a listener", () => {
  test("gets the state, what it missed, and then what comes", async () => {
    const one = openOne();
    for (const text of ["a", "b", "c"]) conversations.say("c", text);
    const follower = await follow(one, conversations, "c", { afterSeq: 1 });
    conversations.say("c", "d");
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types()).toEqual(["state", "message", "message", "message"]);
    expect(follower.texts()).toEqual(["b", "c", "d"]);
  });

  test("costs one read to begin, and nothing while nothing happens", async () => {
    const one = openOne();
    await follow(one, conversations, "c");
    expect(conversations.reads).toBe(1);
    for (let second = 0; second < 30; second++) await one.tick();
    expect(conversations.reads).toBe(1);
  });

  test("of many changes at once causes few reads, and never two beside each other", async () => {
    const one = openOne();
    const followers = [await follow(one, conversations, "c"), await follow(one, conversations, "c")];
    const before = conversations.reads;
    for (let number = 0; number < 200; number++) {
      conversations.say("c", `${number}`);
      noteChanged(one, conversations, "c");
      if (number % 50 === 0) await settle();
    }
    await settle();
    expect(conversations.maxReadsAtOnce).toBe(1);
    expect(conversations.reads - before).toBeLessThan(10);
    for (const { texts } of followers) expect(texts()).toEqual(Array.from({ length: 200 }, (_, at) => `${at}`));
  });

  test("is not sent another deadline alone, and of a state what changed", async () => {
    const one = openOne();
    const follower = await follow(one, conversations, "c");
    conversations.change("c", { untilMs: 99 });
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types()).toEqual(["state"]);
    conversations.change("c", { state: "waiting", person: null, reason: "idle", sinceMs: 5 });
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types()).toEqual(["state", "state"]);
  });

  test("learns who takes the conversation before it reads them, and ends behind what was said when they leave", async () => {
    conversations.add("c", handoff({ state: "waiting", person: null, reason: "asked" }));
    const one = openOne();
    const follower = await follow(one, conversations, "c");
    conversations.change("c", { state: "person", person: grace, reason: "taken", sinceMs: 2 });
    conversations.say("c", "hello");
    noteChanged(one, conversations, "c");
    await settle();
    conversations.say("c", "bye");
    conversations.change("c", { state: "companion", person: null, reason: "released", sinceMs: 3 });
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types()).toEqual(["state", "state", "message", "message", "state", "end over"]);
  });

  test("stays while the companion answers, where it may", async () => {
    conversations.add("c", null);
    const one = openOne();
    const follower = await follow(one, conversations, "c", { stays: true });
    conversations.say("c", "hello", null);
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types()).toEqual(["state", "message"]);
  });

  test("comes after five others at the cost of the first", async () => {
    const one = openOne();
    const followers: Follower[] = [];
    for (let number = 0; number < 6; number++) followers.push(await follow(one, conversations, "c"));
    expect(followers.map((follower) => follower.types().at(-1))).toEqual(["end replaced", ...Array(5).fill("state")]);
  });

  test("ends when the conversation is gone, and when it comes too late there is none", async () => {
    const one = openOne();
    const follower = await follow(one, conversations, "c");
    conversations.all.delete("c");
    one.hub.noteErased("companion");
    await settle();
    expect(follower.types()).toEqual(["state", "end unavailable"]);
    follower.leave();
    expect(await one.hub.listen(conversations.keyOf("c"), { take: () => undefined })).toBeNull();
    expect(one.hub.isReached("c")).toBe(false);
  });

  test("gets what could not be read once the store is back", async () => {
    const one = openOne();
    const follower = await follow(one, conversations, "c");
    conversations.isAway = true;
    conversations.say("c", "a");
    noteChanged(one, conversations, "c");
    await settle();
    await one.tick();
    expect(follower.types()).toEqual(["state"]);
    conversations.isAway = false;
    await one.tick();
    expect(follower.texts()).toEqual(["a"]);
  });

  test("ends after 15 to 20 minutes, when its token ends, at shutdown, and with its right", async () => {
    const one = openOne();
    const endsAtMs = one.clock.nowMs() + 3_000;
    let isRightful = true;
    const lost = { name: "lost", check: async () => isRightful, tokenEndsAtMs: null };
    const [again, token, right] = [
      await follow(one, conversations, "c"),
      await follow(one, conversations, "c", { right: { ...plainRight, tokenEndsAtMs: endsAtMs } }),
      await follow(one, conversations, "c", { right: lost }),
    ];
    isRightful = false;
    await eventually(() => right.types().length === 2);
    expect(right.types()).toEqual(["state", "end unavailable"]);
    for (let second = 0; second < 3; second++) await one.tick();
    expect(token.types()).toEqual(["state", "end visitor_unverified"]);
    const tickTenTimes = async () => {
      for (let second = 0; second < 10; second++) await one.tick();
    };
    one.clock.advance(17 * 60_000);
    await tickTenTimes();
    expect(again.types()).toEqual(["state"]);
    one.clock.advance(60_000);
    await tickTenTimes();
    expect(again.types()).toEqual(["state", "end again"]);
    const last = await follow(one, conversations, "c");
    one.hub.endAll();
    expect(last.types()).toEqual(["state", "end unavailable"]);
    one.hub.stop();
  });
});

describe("several instances", () => {
  test("heal within 10 s where a third of the announcements is lost", async () => {
    const random = createRandom(37);
    const ids = Array.from({ length: 30 }, (_, number) => `conversation-${number}`);
    for (const id of ids) conversations.add(id);
    const hubs = createHubs(3, conversations.store, { isLost: () => random.next() < 1 / 3 });
    const followers = new Map<string, Follower[]>();
    for (const id of ids) {
      followers.set(id, []);
      for (const one of hubs) followers.get(id)?.push(await follow(one, conversations, id));
    }
    const said = new Map<string, string[]>(ids.map((id) => [id, []]));
    for (let number = 0; number < 300; number++) {
      const id = ids[random.below(ids.length)] ?? "";
      conversations.say(id, `${number}`);
      said.get(id)?.push(`${number}`);
      const one = hubs[random.below(hubs.length)];
      if (one !== undefined) noteChanged(one, conversations, id);
      if (random.below(20) === 0) await settle();
    }
    await settle();
    const isBehind = () =>
      ids.some((id) => followers.get(id)?.some(({ texts }) => texts().length !== said.get(id)?.length));
    expect(isBehind()).toBe(true);
    for (let second = 0; second < 10; second++) for (const one of hubs) await one.tick();
    for (const id of ids) for (const { texts } of followers.get(id) ?? []) expect(texts()).toEqual(said.get(id) ?? []);
  });

  test("read what may have been missed once they hear again, and nothing where there is only one", async () => {
    const [one, other] = createHubs(2, conversations.store, { isLost: () => true });
    if (one === undefined || other === undefined) throw new Error("no hubs");
    const follower = await follow(other, conversations, "c");
    conversations.say("c", "a");
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.texts()).toEqual([]);
    for (let second = 0; second < 5; second++) await other.tick();
    expect(follower.texts()).toEqual(["a"]);
  });

  test("know of each other whom they reach, for half a minute", async () => {
    const [one, other] = createHubs(2, conversations.store);
    if (one === undefined || other === undefined) throw new Error("no hubs");
    expect(one.hub.isReached("c")).toBe(false);
    const follower = await follow(other, conversations, "c");
    for (let second = 0; second < 100; second++) for (const { tick } of [one, other]) await tick();
    expect(one.hub.isReached("c")).toBe(true);
    follower.leave();
    one.clock.advance(30_001);
    expect(one.hub.isReached("c")).toBe(false);
    one.hub.notePoll("c", "person");
    expect([one.hub.isReached("c"), other.hub.isReached("c")]).toEqual([true, true]);
  });

  test("show what is typed at another, until it lapses, is taken back, or becomes a message", async () => {
    const [one, other] = createHubs(2, conversations.store);
    if (one === undefined || other === undefined) throw new Error("no hubs");
    const follower = await follow(other, conversations, "c");
    const shown = () => follower.events.flatMap((event) => (event.type === "typing" ? [event.isTyping] : []));
    one.hub.noteTyping(typing(true));
    expect(shown()).toEqual([true]);
    for (let second = 0; second < 6; second++) await other.tick();
    expect(shown()).toEqual([true, false]);
    one.hub.noteTyping(typing(true));
    one.hub.noteTyping(typing(false));
    expect(shown()).toEqual([true, false, true, false]);
    one.hub.noteTyping(typing(true));
    const late = await follow(other, conversations, "c");
    expect(late.types()).toEqual(["state", "typing"]);
    conversations.say("c", "a");
    noteChanged(one, conversations, "c");
    await settle();
    expect(follower.types().slice(-3)).toEqual(["typing", "typing", "message"]);
    for (let second = 0; second < 10; second++) await other.tick();
    expect(shown()).toEqual([true, false, true, false, true, false]);
    // However long the name is that a key gives somebody.
    one.hub.noteTyping({ ...typing(true), personId: "å".repeat(128), name: "語".repeat(60) });
    expect(shown().at(-1)).toBe(true);
  });

  test("tell each other's teams what has changed, who types and who is present", async () => {
    const [one, other] = createHubs(2, conversations.store);
    if (one === undefined || other === undefined) throw new Error("no hubs");
    const events: InboxEvent[] = [];
    const listener = { take: (event: InboxEvent) => void events.push(event) };
    const leave = other.hub.listenInbox({ accountId, memberId: "m", right: plainRight }, listener);
    noteChanged(one, conversations, "c");
    one.hub.noteTyping({ ...typing(true), by: "visitor" });
    one.hub.notePresence(accountId);
    one.hub.notePresence("another account");
    expect(events.map(({ type }) => type)).toEqual(["changed", "typing", "presence"]);
    other.hub.endAll();
    leave();
    noteChanged(one, conversations, "c");
    expect(events.at(-1)).toEqual({ type: "end", reason: "unavailable" });
  });
});

test("listeners that are cut at random, and come back, read every message once and in order", async () => {
  const random = createRandom(73);
  const hubs = createHubs(3, conversations.store, { isLost: () => random.next() < 0.3 });
  const read: string[] = [];
  const said: string[] = [];
  let follower: Follower | null = null;
  for (let round = 0; round < 400; round++) {
    const one = hubs[random.below(3)];
    if (one === undefined) throw new Error("no hub");
    if (random.below(4) === 0 && follower !== null) {
      read.push(...follower.texts());
      follower.leave();
      follower = null;
    }
    follower ??= await follow(one, conversations, "c", { afterSeq: read.length });
    for (let more = random.below(3); more > 0; more--) {
      said.push(`${said.length}`);
      conversations.say("c", `${said.length - 1}`);
      noteChanged(one, conversations, "c");
    }
    if (random.below(3) === 0) await settle();
  }
  for (let second = 0; second < 10; second++) for (const { tick } of hubs) await tick();
  read.push(...(follower?.texts() ?? []));
  expect(read).toEqual(said);
});

test("who follows an inbox looks again who is present every twenty seconds, also where no member does", async () => {
  const one = openOne();
  const events: InboxEvent[] = [];
  const leave = one.hub.listenInbox(
    { accountId, memberId: null, right: plainRight },
    { take: (event) => void events.push(event) },
  );
  for (let second = 0; second < 19; second++) await one.tick();
  expect(events).toEqual([]);
  await one.tick();
  await settle();
  expect(events).toEqual([{ type: "presence" }]);
  leave();
});

test("slots are counted by address and for the instance, and given back once", () => {
  const [one] = createHubs(1, conversations.store, { perAddress: 2, maxStreams: 3 });
  if (one === undefined) throw new Error("no hub");
  const { hub } = one;
  const first = hub.takeSlot("1.2.3.4");
  hub.takeSlot("1.2.3.4");
  expect(() => hub.takeSlot("1.2.3.4")).toThrow(
    expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 5 }),
  );
  hub.takeSlot(null);
  expect(() => hub.takeSlot(null)).toThrow(expect.objectContaining({ code: "unavailable", retryAfterSeconds: 5 }));
  first.release();
  first.release();
  expect(hub.size).toBe(2);
  hub.takeSlot("1.2.3.4");
  expect(hub.size).toBe(3);
});
