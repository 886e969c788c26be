import { describe, expect, test } from "bun:test";
import type { DecidedOn, HandoffChange } from "../../src/contracts/store/handoffs.ts";
import {
  decideAbsent,
  decideAsk,
  decideDue,
  decideGoBack,
  decideOffer,
  decideReleaseAll,
} from "../../src/core/people/asking.ts";
import { type Deciding, noNotice } from "../../src/core/people/change.ts";
import {
  decideFinish,
  decideReach,
  decideRelease,
  decideReserve,
  decideTake,
  decideUpdate,
  decideWaitOn,
} from "../../src/core/people/taking.ts";
import { decideKeep, decideSay } from "../../src/core/people/writing.ts";
import { AppError } from "../../src/domain/errors.ts";
import {
  deadlineOf,
  foldTags,
  type Handoff,
  type HandoffSettings,
  type Person,
  personIdOfKey,
  reachMs,
  toVisitorState,
} from "../../src/domain/handoff.ts";
import { turnCompanion } from "../support/turn-companion.ts";

const nowMs = Date.parse("2026-03-04T10:00:00Z");
const ada: Person = { id: "ada", name: "Ada", memberId: "ada", keyId: null };
const bob: Person = { id: "bob", name: "Bob", memberId: "bob", keyId: null };
const settings: HandoffSettings = {
  ...{ mode: "asked", ask: ["visitor", "model"], when: "present", hours: null, waitSeconds: 120, idleMinutes: 30 },
  ...{ waitingText: null, personText: null, unavailableText: null },
};

const plain: Handoff = {
  ...{ conversationId: "c", accountId: "a", companionId: "k", state: "companion", reason: null, person: null },
  ...{ reserved: null, sinceMs: null, untilMs: null, owedSinceMs: null, wasPresent: false, isAsked: false },
  ...{ isOffered: false, status: null, assigneeId: null, tags: [], reachSeq: 0, returnedAtMs: null, plainSeq: 0 },
  ...{
    seenSeq: 0,
    missedAtMs: null,
    isResolved: null,
    resolvedSeq: null,
    resolvedAtMs: null,
    hasContact: false,
    noticeSinceMs: null,
    noticeAtMs: null,
    noticedAtMs: null,
    answerMailAtMs: null,
    day: "",
    dayMessages: 0,
    change: 7,
  },
};
const waiting: Handoff = {
  ...{ ...plain, state: "waiting", reason: "asked", sinceMs: nowMs - 9_000, untilMs: nowMs + 111_000 },
  ...{ owedSinceMs: nowMs - 9_000, isAsked: true, status: "open", reachSeq: 4 },
};
const adas: Handoff = {
  ...{ ...waiting, state: "person", reason: "taken", person: ada, sinceMs: nowMs - 60_000, untilMs: nowMs + 60_000 },
  ...{ owedSinceMs: nowMs - 50_000 },
};
const reserved: Handoff = { ...plain, reserved: ada, untilMs: nowMs + 9_000 };
const missed: Handoff = { ...plain, isAsked: true, missedAtMs: nowMs - 60_000, status: "open" };

function on(handoff: Handoff | null, fields: Partial<DecidedOn> = {}): DecidedOn {
  const key = { companionId: "k", sessionId: "s", visitorId: null };
  return {
    ...{ key, accountId: "a", conversationId: "c", sealedVisitor: null, handoff, newestSeq: 6, knownSeq: null },
    unansweredId: null,
    ...fields,
  };
}
function by(actor: Deciding["actor"], changed: Partial<HandoffSettings> | null = {}): Deciding {
  const handoff = changed && { ...settings, ...changed };
  return { companion: { ...turnCompanion, handoff }, actor, nowMs, id: "01900000-0000-7000-8000-000000000000" };
}
const visitor = by({ type: "visitor" });
const clock = by({ type: "clock" });
const asPerson = (person: Person, changed: Partial<HandoffSettings> | null = {}) =>
  by({ type: "person", person }, changed);
const eventTypesOf = (change: HandoffChange | null) => change?.webhookEvents?.map(({ type }) => type);
const lineTypes = (change: HandoffChange | null) => change?.events?.map(({ type }) => type);

/** What a decision comes to, in short: what it refuses, that it changes nothing, or the state that follows. */
function outcome(decide: () => HandoffChange | null, before: Handoff | null): string {
  try {
    const change = decide();
    if (change === null) return "nothing";
    const after = { ...(before ?? plain), ...change.fields };
    return [after.state, after.person?.id, after.reserved && `for ${after.reserved.id}`].filter(Boolean).join(" ");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const person = error.members?.person as { id: string } | null | undefined;
    return person ? `${error.code} ${person.id}` : error.code;
  }
}

const states = { "no record": null, plain, missed, reserved, waiting, "Ada's": adas };
type State = keyof typeof states;
const ask = { isAvailable: true, sealedReason: "sealed", sealedVisitor: null, newId: "new" };
const adaTakes = { person: ada, from: null, isPresent: true };
const bobTakes = { person: bob, from: null, isPresent: false };
const message = { id: "m", text: "Hello?", clientId: "n", sealedVisitor: null, isPlain: false };

const actions: Record<string, (state: DecidedOn) => HandoffChange | null> = {
  "visitor asks": (state) => decideAsk(state, visitor, ask),
  "visitor asks, nobody there": (state) => decideAsk(state, visitor, { ...ask, isAvailable: false }),
  "visitor goes back": (state) => decideGoBack(state, visitor),
  "Ada takes": (state) => decideTake(state, asPerson(ada), adaTakes),
  "Bob takes": (state) => decideTake(state, asPerson(bob), bobTakes),
  "Bob takes in mode any": (state) => decideTake(state, asPerson(bob, { mode: "any" }), bobTakes),
  "Bob takes from Ada": (state) => decideTake(state, asPerson(bob, { mode: "any" }), { ...bobTakes, from: "ada" }),
  "Bob takes without handoff": (state) => decideTake(state, asPerson(bob, null), bobTakes),
  "Bob reserves in mode any": (state) => decideReserve(state, asPerson(bob, { mode: "any" }), bobTakes),
  "Ada reserves": (state) => decideReserve(state, asPerson(ada), adaTakes),
  "reply ends": (state) => decideFinish(state, clock, true),
  "Ada releases": (state) => decideRelease(state, asPerson(ada), { person: ada, close: false, from: null }),
  "Bob releases": (state) => decideRelease(state, asPerson(bob), { person: bob, close: false, from: null }),
  "Bob releases Ada's": (state) => decideRelease(state, asPerson(bob), { person: bob, close: false, from: "ada" }),
  "Bob closes": (state) => decideUpdate(state, asPerson(bob), { status: "closed" }),
  "deadline comes": (state) => decideDue(state, { ...clock, nowMs: nowMs + 3_600_000 }),
  "no deadline yet": (state) => decideDue(state, clock),
  "visitor writes": (state) => decideKeep(state, visitor, message),
  "Ada writes": (state) => decideSay(state, asPerson(ada), { ...message, person: ada }),
  "Ada is gone": (state) =>
    decideReleaseAll(state, by({ type: "server" }), ({ person, reserved: next }) =>
      [person?.id, next?.id].includes("ada"),
    ),
};

/** In the order of `states`. */
const expected: Record<keyof typeof actions, readonly string[]> = {
  "visitor asks": ["waiting", "waiting", "waiting", "waiting for ada", "nothing", "nothing"],
  "visitor asks, nobody there": ["companion", "companion", "nothing", "companion for ada", "nothing", "nothing"],
  "visitor goes back": ["nothing", "nothing", "nothing", "nothing", "companion", "companion"],
  "Ada takes": ["conflict", "conflict", "person ada", "person ada", "person ada", "nothing"],
  "Bob takes": ["conflict", "conflict", "person bob", "conflict ada", "person bob", "conflict ada"],
  "Bob takes in mode any": ["person bob", "person bob", "person bob", "conflict ada", "person bob", "conflict ada"],
  "Bob takes from Ada": ["person bob", "person bob", "person bob", "person bob", "person bob", "person bob"],
  "Bob takes without handoff": ["conflict", "conflict", "conflict", "conflict ada", "conflict", "conflict ada"],
  "Bob reserves in mode any": [
    ...["companion for bob", "companion for bob", "companion for bob"],
    ...["conflict ada", "waiting for bob", "conflict ada"],
  ],
  "Ada reserves": ["conflict", "conflict", "companion for ada", "nothing", "waiting for ada", "nothing"],
  "reply ends": ["nothing", "nothing", "nothing", "person ada", "nothing", "nothing"],
  "Ada releases": ["nothing", "nothing", "nothing", "companion", "companion", "companion"],
  "Bob releases": ["nothing", "nothing", "nothing", "conflict ada", "companion", "conflict ada"],
  "Bob releases Ada's": ["nothing", "nothing", "nothing", "companion", "companion", "companion"],
  "Bob closes": ["companion", "companion", "companion", "companion", "companion", "companion"],
  "deadline comes": ["nothing", "nothing", "nothing", "nothing", "companion", "companion"],
  "no deadline yet": ["nothing", "nothing", "nothing", "nothing", "nothing", "nothing"],
  "visitor writes": ["nothing", "nothing", "nothing", "nothing", "waiting", "person ada"],
  "Ada writes": ["conflict", "conflict", "conflict", "conflict", "conflict", "person ada"],
  "Ada is gone": ["nothing", "nothing", "nothing", "companion", "nothing", "companion"],
};

const rows = Object.entries(expected).flatMap(([action, outcomes]) =>
  (Object.keys(states) as State[]).map((state, at) => [action, state, outcomes[at] ?? "missing"] as const),
);
test.each(rows)("%s where there is %s: %s", (action, state, comesTo) => {
  const before = states[state];
  const decide = actions[action];
  expect(decide === undefined ? "missing" : outcome(() => decide(on(before)), before)).toBe(comesTo);
});

describe("asking", () => {
  test("begins a deadline, opens the conversation, and tells once", () => {
    const change = decideAsk(on(null, { newestSeq: 4 }), visitor, ask);
    expect(change?.fields).toMatchObject({
      ...{ state: "waiting", reason: "asked", sinceMs: nowMs, untilMs: nowMs + 120_000, owedSinceMs: nowMs },
      ...{ isAsked: true, status: "open", reachSeq: 4, plainSeq: 4, returnedAtMs: null },
    });
    expect(change?.events).toEqual([{ type: "asked", atMs: nowMs, by: { type: "visitor" }, sealedReason: "sealed" }]);
    expect(change?.audit).toEqual({ action: "conversation.ask", details: { companionId: turnCompanion.id } });
    expect(eventTypesOf(change)).toEqual(["handoff.requested"]);
  });

  test("before any message begins the conversation, and tells that as well", () => {
    const change = decideAsk(on(null, { conversationId: "new", newestSeq: 0 }), visitor, ask);
    expect(eventTypesOf(change)).toEqual(["conversation.started", "handoff.requested"]);
    expect(change?.webhookEvents?.[0]?.id).toBe("msg_new_started");
  });

  test("is refused to visitors where they may not, unless a person was offered; the model may always", () => {
    const noVisitors = { ask: ["no_answer"] as const };
    const actor = by({ type: "visitor" }, noVisitors);
    expect(outcome(() => decideAsk(on(plain), actor, ask), plain)).toBe("conflict");
    expect(outcome(() => decideAsk(on({ ...plain, ...decideOffer(on(plain))?.fields }), actor, ask), plain)).toBe(
      "waiting",
    );
    expect(outcome(() => decideAsk(on(plain), by({ type: "model" }, noVisitors), ask), plain)).toBe("waiting");
    expect(outcome(() => decideAsk(on(waiting), actor, ask), waiting)).toBe("nothing");
  });

  test("where nobody is there counts as missed at once, and once an hour", () => {
    const unavailable = { ...ask, isAvailable: false };
    const change = decideAsk(on(plain), visitor, unavailable);
    expect(change?.fields).toEqual({
      ...{ isAsked: true, missedAtMs: nowMs, status: "open" },
      // The team has mail about it.
      ...{ noticeSinceMs: nowMs, noticeAtMs: nowMs },
    });
    expect([lineTypes(change), eventTypesOf(change)]).toEqual([["asked", "missed"], ["handoff.missed"]]);
    const hourAgo = { ...missed, missedAtMs: nowMs - 3_600_000 };
    expect(eventTypesOf(decideAsk(on(hourAgo), visitor, unavailable))).toEqual(["handoff.missed"]);
    const justUnder = { ...missed, missedAtMs: nowMs - 3_599_999, status: "closed" as const };
    expect(decideAsk(on(justUnder), visitor, unavailable)).toEqual({ fields: { status: "open" } });
    const answered = { ...justUnder, status: "answered" as const };
    expect(decideAsk(on(answered), visitor, unavailable)).toEqual({ fields: { status: "open" } });
  });
});

describe("the clock", () => {
  test("an ask that nobody took is missed, and stays open", () => {
    const change = decideDue(on(waiting), { ...clock, nowMs: nowMs + 111_000 });
    expect(change?.fields).toEqual({
      ...{
        state: "companion",
        reason: "missed",
        sinceMs: nowMs + 111_000,
        untilMs: null,
        person: null,
        reserved: null,
      },
      ...{ owedSinceMs: null, wasPresent: false, returnedAtMs: nowMs + 111_000 },
    });
    expect([lineTypes(change), eventTypesOf(change)]).toEqual([["missed"], ["handoff.missed"]]);
    expect(decideDue(on(waiting), { ...clock, nowMs: nowMs + 110_999 })).toBeNull();
  });

  test("silence gives a conversation back", () => {
    const change = decideDue(on(adas), { ...clock, nowMs: nowMs + 60_000 });
    expect(change?.fields).toMatchObject({ state: "companion", reason: "idle", person: null });
    expect(change?.webhookEvents?.[0]?.data).toMatchObject({
      reason: "idle",
      person: { name: "Ada", member_id: "ada" },
    });
    expect(change?.audit?.action).toBe("conversation.release");
  });

  test("who is gone and leaves a visitor unanswered gives the conversation up, for one more wait", () => {
    expect(decideAbsent(on(adas), clock, "ada")).toBeNull();
    const late = { ...clock, nowMs: nowMs + 70_000 };
    const change = decideAbsent(on(adas), late, "ada");
    expect(change?.fields).toMatchObject({
      state: "waiting",
      reason: "asked",
      person: null,
      untilMs: late.nowMs + 120_000,
    });
    // The visitor goes on reading from where they were.
    expect(change?.fields).not.toHaveProperty("reachSeq");
    expect(change?.fields).not.toHaveProperty("owedSinceMs");
    expect(eventTypesOf(change)).toEqual(["handoff.requested"]);
    expect(decideAbsent(on({ ...adas, owedSinceMs: null }), late, "ada")).toBeNull();
    expect(decideAbsent(on({ ...adas, person: bob }), late, "ada")).toBeNull();
  });

  test("a reservation is not taken back by the deadline of the ask, but tried again", () => {
    const both = { ...waiting, reserved: bob, untilMs: nowMs - 1 };
    expect(decideDue(on(both), clock)).toBeNull();
    expect(decideWaitOn(on(both), clock)?.fields?.untilMs).toBeGreaterThan(nowMs);
    expect(decideWaitOn(on(reserved), clock)).toBeNull();
  });
});

describe("taking", () => {
  test("begins the deadline of silence; what waited goes on waiting, and readers stay where they were", () => {
    const change = decideTake(on(waiting), asPerson(ada), adaTakes);
    expect(change?.fields).toEqual({
      ...{ state: "person", reason: "taken", person: ada, reserved: null, sinceMs: nowMs, untilMs: nowMs + 1_800_000 },
      ...{ wasPresent: true, ...noNotice },
    });
    expect(change?.webhookEvents?.[0]?.data).toMatchObject({ person: { name: "Ada" }, from: null });
    expect(change?.audit?.details).toMatchObject({ personId: "ada" });
  });

  test("from the companion, listeners are told from there on", () => {
    expect(decideTake(on(missed), asPerson(ada), adaTakes)?.fields).toMatchObject({ reachSeq: 6, returnedAtMs: null });
  });

  test("within a day of a return, listeners are still told what people wrote before", () => {
    const returned = {
      ...plain,
      isAsked: true,
      status: "answered",
      reachSeq: 2,
      returnedAtMs: nowMs - reachMs,
    } as const;
    expect(decideTake(on(returned), asPerson(ada), adaTakes)?.fields).not.toHaveProperty("reachSeq");
    expect(
      decideTake(on({ ...returned, returnedAtMs: nowMs - reachMs - 1 }), asPerson(ada), adaTakes)?.fields,
    ).toMatchObject({ reachSeq: 6, returnedAtMs: null });
    const again: Handoff = { ...adas, reachSeq: 2, returnedAtMs: nowMs - 90_000 };
    const change = decideReach(on(again), clock, { change: 7, isCut: true });
    expect([change?.fields, lineTypes(change)]).toEqual([undefined, ["stopped"]]);
    expect(decideReach(on(again), clock, { change: 7, isCut: false })).toBeNull();
  });

  test("from a colleague tells from whom", () => {
    const change = decideTake(on(adas), asPerson(bob), { ...bobTakes, from: "ada" });
    expect(change?.webhookEvents?.[0]?.data).toMatchObject({ person: { name: "Bob" }, from: { name: "Ada" } });
    expect(outcome(() => decideTake(on(adas), asPerson(bob), { ...bobTakes, from: "eve" }), adas)).toBe("conflict ada");
  });

  test("a reservation belongs to whoever made it when the reply ends", () => {
    const change = decideFinish(on(reserved), clock, false);
    expect(change?.fields).toMatchObject({ state: "person", person: ada, reserved: null, reachSeq: 6 });
    expect(change?.events).toEqual([
      { type: "taken", atMs: nowMs, by: { type: "person", person: ada }, sealedReason: null },
    ]);
  });

  test("a reservation takes nothing once its companion hands no conversations over", () => {
    const change = decideFinish(on(reserved), by({ type: "clock" }, null), false);
    expect(change).toEqual({ fields: { reserved: null, untilMs: null } });
  });

  test("a reservation of somebody who is gone leaves the visitor waiting, for others", () => {
    const both = { ...waiting, reserved: ada, untilMs: nowMs + 9_000 };
    const change = decideReleaseAll(on(both), by({ type: "server" }), () => true);
    expect(change).toEqual({ fields: { reserved: null, untilMs: nowMs + 120_000 } });
    expect(outcome(() => decideReleaseAll(on(both), by({ type: "server" }, null), () => true), both)).toBe("companion");
  });

  test("the deadline of a reservation is shown to nobody", () => {
    expect([adas, waiting].map(deadlineOf)).toEqual([adas.untilMs, waiting.untilMs]);
    const own = [plain, reserved, { ...waiting, reserved: ada }, null];
    expect(own.map(deadlineOf)).toEqual([null, null, null, null]);
    expect(toVisitorState(reserved, "Ada")).toMatchObject({ state: "companion", untilMs: null });
  });

  test("the reply that was under way stands before what people write, unless somebody wrote already", () => {
    expect(decideReach(on(adas), clock, { change: 7, isCut: false })).toEqual({ fields: { reachSeq: 6 } });
    expect(lineTypes(decideReach(on(adas), clock, { change: 7, isCut: true }))).toEqual(["stopped"]);
    expect(decideReach(on(adas), clock, { change: 6, isCut: true })).toBeNull();
    expect(decideReach(on({ ...adas, reachSeq: 6 }), clock, { change: 7, isCut: true })).toBeNull();
  });

  test("declining an ask counts as missed", () => {
    const change = decideRelease(on(waiting), asPerson(bob), { person: bob, close: true, from: null });
    expect(change?.fields).toMatchObject({ state: "companion", reason: "missed", status: "closed" });
    expect(eventTypesOf(change)).toEqual(["handoff.missed", "conversation.updated"]);
    expect(lineTypes(change)).toEqual(["missed", "closed"]);
  });

  test("two people of one key are two, whatever they are called", () => {
    expect(personIdOfKey("k", { name: "Ada" })).not.toBe(personIdOfKey("k", { name: "Bob" }));
    expect(personIdOfKey("k", { name: "Ada", id: "1" })).toBe(personIdOfKey("k", { name: "Ada L.", id: "1" }));
  });
});

describe("work on a conversation", () => {
  test("closing gives it back", () => {
    const change = decideUpdate(on(adas), asPerson(ada), { status: "closed" });
    expect(change?.fields).toMatchObject({ state: "companion", reason: "closed", status: "closed", person: null });
    expect(eventTypesOf(change)).toEqual(["handoff.released", "conversation.updated"]);
    expect(lineTypes(change)).toEqual(["closed"]);
    expect(change?.audit).toMatchObject({ action: "conversation.close", details: { changed: "status" } });
  });

  test("tags and assignee are told, and what is so already changes nothing", () => {
    const change = decideUpdate(on(plain), asPerson(ada), { tags: ["vip"], assigneeId: "bob" });
    expect(change?.fields).toEqual({ tags: ["vip"], assigneeId: "bob" });
    expect(lineTypes(change)).toEqual(["assigned", "tagged"]);
    expect(change?.webhookEvents?.[0]?.data).toEqual({ status: null, assignee: "bob", tags: ["vip"] });
    expect(change?.audit).toMatchObject({ action: "conversation.update", details: { changed: "assignee, tags" } });
    const after = { ...plain, tags: ["vip"], assigneeId: "bob" };
    expect(decideUpdate(on(after), asPerson(ada), { tags: ["vip"], assigneeId: "bob" })).toBeNull();
  });

  test("tags are folded, and limited", () => {
    expect(foldTags([" VIP ", "vip", "Straße"])).toEqual(["vip", "straße"]);
    expect(() => foldTags(["x".repeat(41)])).toThrow("check tags");
    expect(() => foldTags(Array.from({ length: 21 }, (_, at) => `${at}`))).toThrow("check tags");
    expect(() => foldTags([" "])).toThrow("check tags");
  });
});

describe("a visitor's message", () => {
  test("moves the deadline of silence, not that of an ask; the team owes an answer since the first", () => {
    const first = decideKeep(on({ ...adas, owedSinceMs: null, isResolved: true }), visitor, message);
    expect(first?.fields).toMatchObject({
      owedSinceMs: nowMs,
      untilMs: nowMs + 1_800_000,
      status: "open",
      isResolved: null,
    });
    expect(decideKeep(on(adas), visitor, message)?.fields?.owedSinceMs).toBe(nowMs - 50_000);
    expect(decideKeep(on(waiting), visitor, message)?.fields).not.toHaveProperty("untilMs");
    expect(first?.webhookEvents?.[0]).toMatchObject({ type: "message.visitor", content: { message: "m" } });
    expect(first?.audit).toBeNull();
  });

  test("is kept once, and tells a stream without events what is new all the same", () => {
    expect(decideKeep(on(adas, { knownSeq: 5 }), visitor, message)).toBeNull();
    const again = decideKeep(on(adas, { knownSeq: 5 }), visitor, { ...message, isPlain: true });
    expect(again).toEqual({ fields: { plainSeq: 6 } });
  });

  test("the 501st of a UTC day is refused until midnight", () => {
    const full = { ...adas, day: "2026-03-04", dayMessages: 499 };
    expect(decideKeep(on(full), visitor, message)?.fields).toMatchObject({ dayMessages: 500 });
    const over = () => decideKeep(on({ ...full, dayMessages: 500 }), visitor, message);
    expect(over).toThrow(expect.objectContaining({ code: "quota_exceeded", retryAfterSeconds: 14 * 3600 }));
    const yesterday = { ...full, day: "2026-03-03", dayMessages: 500 };
    expect(decideKeep(on(yesterday), visitor, message)?.fields).toMatchObject({ day: "2026-03-04", dayMessages: 1 });
  });
});

describe("a person's message", () => {
  const said = { ...message, person: ada };

  test("answers what was owed, and moves the deadline of silence", () => {
    const change = decideSay(on(adas), asPerson(ada), said);
    expect(change?.fields).toEqual({ status: "answered", owedSinceMs: null, ...noNotice, untilMs: nowMs + 1_800_000 });
    expect(change?.message).toMatchObject({
      author: ada,
      clientId: "n",
      message: { role: "assistant", complete: true },
    });
    expect(change?.webhookEvents?.[0]?.data).toMatchObject({ message_id: "n", reply_id: "m", person: { name: "Ada" } });
  });

  test("is written once, whoever has the conversation by then", () => {
    expect(decideSay(on({ ...adas, person: bob }, { knownSeq: 5 }), asPerson(ada), said)).toBeNull();
  });

  test("reaches who left a contact where nothing can be taken", () => {
    const actor = asPerson(ada, null);
    const change = decideSay(on({ ...plain, isAsked: true, status: "open" }), actor, said);
    expect(change?.fields).toEqual({ status: "answered", owedSinceMs: null, ...noNotice });
    expect(() => decideSay(on(plain), actor, said)).toThrow(expect.objectContaining({ code: "conflict" }));
  });
});
