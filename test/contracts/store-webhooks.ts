/** What every storage engine must do with webhooks, and with what is to be delivered to them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type {
  DueDelivery,
  NewBudget,
  NewEvent,
  NewWebhook,
  SettledTurn,
  TurnEvents,
} from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { textOf } from "../../src/domain/conversation.ts";
import { stateConflict } from "../../src/domain/handoff.ts";
import { visitorFactsOf } from "../../src/domain/visitor.ts";
import { type EventType, maxWebhooks } from "../../src/domain/webhook.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { firstPage, newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const always = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const hourMs = 3_600_000;

export function webhookStoreContract(open: OpenStore): void {
  describe("webhooks", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion & { embedToken: string };
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account, { metadata: { tenant: "7", plan: "pro" } });
    });
    afterEach(() => world.close());

    const webhooks = () => world.store.webhooks;
    const now = () => world.clock.nowMs();

    async function create(fields: Partial<NewWebhook> = {}, of = account) {
      world.clock.advance(1000);
      const webhook: NewWebhook = {
        id: systemIds.uuid(),
        url: "https://hooks.example/in",
        events: ["*"],
        includeContent: false,
        metadata: null,
        enabled: true,
        sealedSecret: "v1.sealed",
        ...fields,
      };
      return await webhooks().create(of.id, webhook, world.context());
    }

    function eventOf(turn: SettledTurn, type: EventType, fields: Partial<NewEvent> = {}): NewEvent {
      return {
        ...{ id: `msg_${systemIds.uuid()}`, accountId: account.id, type, atMs: now(), companionId: companion.id },
        ...{ sessionId: turn.key.sessionId, visitorId: turn.key.visitorId, sealedVisitor: null },
        facts: visitorFactsOf(companion),
        data: { b: 1, a: "Straße" },
        content: null,
        ...fields,
      };
    }

    function eventsOf(turn: SettledTurn): TurnEvents {
      const [question, reply] = turn.messages;
      const content = { message: question?.id ?? "", ...(reply && { reply: reply.id }) };
      return {
        started: eventOf(turn, "conversation.started"),
        ended: eventOf(turn, "message.completed", { content }),
      };
    }

    async function settle(fields: Parameters<StoreWorld["turnOf"]>[1] = {}) {
      const turn = world.turnOf(companion, fields);
      const told = { ...turn, events: eventsOf(turn) };
      await world.store.turns.settle(told);
      return told;
    }

    const running = new Map<string, number>();
    const runningOf = new Map<string, number>();
    const take = (limit = 10, perWebhook = 10, perAccount = 100) => {
      const bounds = { limit, perWebhook, perAccount, running, runningOf };
      return webhooks().takeDue({ nowMs: now(), untilMs: now() + 60_000, ...bounds });
    };
    const finish = (due: DueDelivery | undefined, outcome: Parameters<StoreWorld["store"]["webhooks"]["finish"]>[1]) =>
      webhooks().finish(due as DueDelivery, outcome, now(), systemIds.uuid());
    const delivered = { state: "delivered", status: 204 } as const;
    const list = async (webhookId: string) =>
      (await webhooks().listDeliveries(account.id, webhookId, firstPage))?.items ?? [];
    const typesOf = async (webhookId: string) => (await list(webhookId)).map(({ type }) => type);
    const audit = async () => (await world.store.audit.list(account.id, always, firstPage)).items;

    test("are told what people decide in a conversation with the commit that decides it, or of nothing", async () => {
      const webhook = await create();
      const turn = world.turnOf(companion);
      await world.store.turns.settle(turn);
      const webhookEvents = [eventOf(turn, "message.completed"), eventOf(turn, "message.failed")];
      const request = {
        ...{ conversation: { key: turn.key }, newConversationId: null, clientId: null, arrivalMark: null },
        clientIdOf: "visitor" as const,
      };
      const refuse = () => {
        throw stateConflict("No.", null);
      };
      const refused = world.store.handoffs.revise({ ...request, decide: refuse }, world.context());
      await expect(refused).rejects.toMatchObject({ code: "conflict" });
      await world.store.handoffs.revise({ ...request, decide: () => null }, world.context());
      expect(await list(webhook.id)).toEqual([]);
      let rings = 0;
      webhooks().onStored(() => rings++);
      const decide = () => ({ fields: { status: "open" as const }, webhookEvents });
      await world.store.handoffs.revise({ ...request, decide }, world.context());
      expect(await typesOf(webhook.id)).toEqual(["message.failed", "message.completed"]);
      await eventually(async () => rings > 0);
      // One after the other, as all of a conversation.
      const first = await take();
      expect(first.map(({ event }) => event.id)).toEqual([webhookEvents[0]?.id ?? ""]);
      expect(first[0]?.event).toMatchObject({ conversationId: turn.conversationId });
    });

    test("are listed newest first to their own account, and changed and deleted by it alone", async () => {
      const other = await world.createAccount();
      const first = await create({ metadata: { tenant: "7" }, events: ["message.completed", "visitor.erased"] });
      const second = await create({ enabled: false, includeContent: true });
      expect(await webhooks().list(account.id, firstPage)).toEqual({ items: [second, first], nextAfterId: null });
      expect((await webhooks().list(account.id, { limit: 1, afterId: null, order: "asc" })).items).toEqual([first]);
      expect(await webhooks().list(other.id, firstPage)).toEqual({ items: [], nextAfterId: null });
      expect(await webhooks().find(account.id, first.id)).toEqual({ ...first, sealedSecret: "v1.sealed" });
      for (const id of [systemIds.uuid(), first.id]) {
        expect(await webhooks().find(other.id, id)).toBeNull();
        expect(await webhooks().update(other.id, id, { enabled: false }, world.context())).toBeNull();
        expect(await webhooks().replaceSecret(other.id, id, "v1.x", world.context())).toBeNull();
        expect(await webhooks().delete(other.id, id, world.context())).toBe(false);
        expect(await webhooks().listDeliveries(other.id, id, firstPage)).toBeNull();
      }
      const patch = { url: "https://other.example/", events: ["*"] as const, metadata: null };
      const changed = await webhooks().update(account.id, first.id, patch, world.context());
      expect(changed).toEqual({ ...first, ...patch, updatedAt: expect.any(Number) });
      expect(changed?.updatedAt).toBeGreaterThan(first.updatedAt);
      await webhooks().replaceSecret(account.id, first.id, "v1.new", world.context());
      expect(await webhooks().find(account.id, first.id)).toMatchObject({ sealedSecret: "v1.new" });
      expect(await webhooks().delete(account.id, first.id, world.context())).toBe(true);
      expect(await webhooks().find(account.id, first.id)).toBeNull();
      expect((await audit()).map(({ action, targetId }) => [action, targetId]).slice(0, 5)).toEqual([
        ["webhook.delete", first.id],
        ["webhook.rotate_secret", first.id],
        ["webhook.update", first.id],
        ["webhook.create", second.id],
        ["webhook.create", first.id],
      ]);
    });

    test("are bounded in an account", async () => {
      for (let made = 0; made < maxWebhooks; made++) await create();
      await expect(create()).rejects.toMatchObject({ code: "conflict" });
      await create({}, await world.createAccount());
    });

    test("a check that throws leaves them as they are", async () => {
      const { id } = await create();
      const refuse = () => {
        throw new Error("no");
      };
      await expect(webhooks().update(account.id, id, { enabled: false }, world.context(), refuse)).rejects.toThrow(
        "no",
      );
      await expect(webhooks().delete(account.id, id, world.context(), refuse)).rejects.toThrow("no");
      expect(await webhooks().find(account.id, id)).toMatchObject({ enabled: true });
    });

    test("are known beside the right to the companion while one is enabled", async () => {
      const read = async () => (await world.store.companions.checkEmbedToken(companion.embedToken))?.hasWebhooks;
      expect(await read()).toBe(false);
      const { id } = await create({ enabled: false });
      expect(await read()).toBe(false);
      await webhooks().update(account.id, id, { enabled: true }, world.context());
      expect(await read()).toBe(true);
      expect((await world.store.companions.checkOwned(account.id, companion.id))?.hasWebhooks).toBe(true);
      await webhooks().delete(account.id, id, world.context());
      expect(await read()).toBe(false);
    });

    test("get what a settled turn tells, each type that they want, and a conversation's beginning once", async () => {
      const all = await create();
      const some = await create({ events: ["message.failed", "message.completed"] });
      const none = await create({ events: ["budget.reached"] });
      const off = await create({ enabled: false });
      let rings = 0;
      webhooks().onStored(() => rings++);
      const first = await settle();
      await eventually(() => rings > 0, { what: "the bell" });
      await settle({ key: first.key });
      expect(await typesOf(all.id)).toEqual(["message.completed", "message.completed", "conversation.started"]);
      expect(await typesOf(some.id)).toEqual(["message.completed", "message.completed"]);
      expect(await typesOf(none.id)).toEqual([]);
      expect(await typesOf(off.id)).toEqual([]);
      const [newest, second, oldest] = await list(all.id);
      expect(oldest).toEqual({
        ...{ id: first.events.started.id, type: "conversation.started", state: "waiting", attempts: 0 },
        ...{ status: null, problem: null, companionId: companion.id, conversationId: first.conversationId },
        ...{ createdAt: first.events.started.atMs, attemptedAt: null, dueAt: first.events.started.atMs },
      });
      expect(second).toMatchObject({ conversationId: first.conversationId, dueAt: null });
      expect(newest).toMatchObject({ conversationId: first.conversationId, dueAt: null });
      const paged = await webhooks().listDeliveries(account.id, all.id, { limit: 2, afterId: null });
      expect(paged?.nextAfterId).toBe(second?.id ?? "");
      const rest = await webhooks().listDeliveries(account.id, all.id, { limit: 2, afterId: second?.id ?? "" });
      expect(rest?.items).toEqual([oldest as never]);
      expect(await webhooks().countWaiting()).toBe(5);
    });

    test("get nothing of a turn whose messages are not stored, or that was stored before", async () => {
      const { id } = await create();
      const turn = await settle({ messageId: systemIds.uuid() });
      await settle({ key: turn.key, messageId: turn.messageId });
      const gone = world.turnOf(companion);
      await world.store.companions.delete(account.id, companion.id, world.context({ hasWebhooks: false }));
      await world.store.turns.settle({ ...gone, events: eventsOf(gone) });
      expect(await typesOf(id)).toEqual(["message.completed", "conversation.started"]);
    });

    test("hear of a failure of which nothing is stored, with its conversation if there is one", async () => {
      const { id } = await create();
      const turn = await settle();
      const fail = async (key: SettledTurn["key"]) => {
        const failed = { ...world.turnOf(companion, { key }), messages: [] };
        const ended = eventOf(failed, "message.failed", { sessionId: key.sessionId });
        await world.store.turns.settle({
          ...failed,
          events: { started: eventOf(failed, "conversation.started"), ended },
        });
      };
      await fail(turn.key);
      await fail({ ...turn.key, sessionId: systemIds.randomUuid() });
      const [alone, within] = await list(id);
      expect(within).toMatchObject({ type: "message.failed", conversationId: turn.conversationId, dueAt: null });
      expect(alone).toMatchObject({ type: "message.failed", conversationId: null, dueAt: alone?.createdAt as number });
    });

    test("with a filter get what is of companions that match it when it happens", async () => {
      const pro = await create({ metadata: { plan: "pro", tenant: 7 } });
      const free = await create({ metadata: { plan: "free" } });
      await settle();
      await settle({ messages: [] });
      expect((await list(pro.id)).length).toBe(3);
      expect(await list(free.id)).toEqual([]);
    });

    test("get changes of companions, unless it is known that there is nobody to tell", async () => {
      const { id } = await create({ metadata: { tenant: "7" } });
      const { companions } = world.store;
      const context = world.context();
      await companions.update(account.id, companion.id, { name: "Bo", themeColor: "#112233" }, context);
      await companions.update(account.id, companion.id, { name: "Cy" }, world.context({ hasWebhooks: false }));
      await companions.delete(account.id, companion.id, world.context());
      const made = newCompanion({ metadata: { tenant: "7" } });
      await companions.create(account.id, made, world.context());
      await companions.createMany(
        account.id,
        [newCompanion({ metadata: { tenant: "7" } }), newCompanion()],
        world.context(),
      );
      await companions.createFitting(
        account.id,
        [newCompanion({ metadata: { tenant: "7" } })],
        world.context(),
        () => null,
      );
      const told = (await list(id)).toReversed();
      expect(told.map(({ type }) => type)).toEqual([
        ...(["companion.updated", "companion.deleted"] as const),
        ...(["companion.created", "companion.created", "companion.created"] as const),
      ]);
      const data = await Promise.all(told.slice(0, 3).map((each) => webhooks().findEvent(id, each.id)));
      expect(data.map((each) => each?.data)).toEqual([
        {
          ...{ companion_id: companion.id, name: "Bo", metadata: { tenant: "7", plan: "pro" } },
          changed: ["name", "theme_color"],
        },
        { companion_id: companion.id, name: "Cy", metadata: { tenant: "7", plan: "pro" } },
        { companion_id: made.id, name: "Ada", metadata: { tenant: "7" } },
      ]);
      expect(told[0]?.createdAt).toBe(context.nowMs);
    });

    test("get a budget's limit when it is reached, once, by whatever reaches it", async () => {
      const { id } = await create({ events: ["budget.reached"] });
      const filtered = await create({ metadata: { tenant: "7" } });
      const { spending, turns } = world.store;
      const budget = (fields: Pick<NewBudget, "subject"> & Partial<NewBudget>): NewBudget => ({
        id: systemIds.uuid(),
        limitMicros: 100,
        period: "day",
        action: "stop",
        ...fields,
      });
      const whole = budget({ subject: { account: true } });
      const tenant = budget({ subject: { metadata: { tenant: "7", plan: "pro" } }, limitMicros: 1 });
      for (const one of [whole, tenant]) await spending.createBudget(account.id, one, world.context());
      await spending.createBudget(account.id, budget({ subject: { account: true }, limitMicros: 0 }), world.context());
      expect(await typesOf(id)).toEqual(["budget.reached"]);
      const facts = [...visitorFactsOf(companion)];
      const spend = { facts, reservationId: null, atMs: now() };
      for (const micros of [60, 60, 60]) {
        await turns.settle(
          world.turnOf(companion, {
            cost: { micros, picos: 0 },
            spend,
            day: new Date(now()).toISOString().slice(0, 10),
          }),
        );
      }
      expect((await list(id)).length).toBe(3);
      expect(await typesOf(filtered.id)).toEqual(["budget.reached"]);
      const event = await webhooks().findEvent(filtered.id, (await list(filtered.id))[0]?.id ?? "");
      expect(event).toMatchObject({
        ...{ companionId: null, createdAt: spend.atMs },
        data: { budget_id: tenant.id, subject: tenant.subject, limit_micros: 1, period: "day", action: "stop" },
      });
    });

    test("get unanswered questions and transcripts with their conversations, and words only if they ask for them", async () => {
      const { id } = await create({ includeContent: true });
      const bare = await create();
      const turn = await settle({ said: "Wann öffnet ihr?", answered: "Um neun." });
      const messageId = turn.messages[0]?.id ?? "";
      const event = eventOf(turn, "question.unanswered", { content: { question: messageId } });
      const unanswered = { messageId, groupId: systemIds.randomUuid(), event };
      await world.store.unanswered.note({ key: turn.key, unanswered, seen: null });
      await world.store.unanswered.note({ key: turn.key, unanswered, seen: null });
      const session = { providerConversationId: "conv-1", sessionId: systemIds.randomUuid(), visitorId: null };
      await world.store.voice.startSession({
        ...{ ...session, ticketId: null, accountId: account.id, companionId: companion.id, sealedVisitor: "v1.who" },
        ...{ keyId: null, day: "2026-01-15", reservationId: null, createdAt: now() },
      });
      const spoken = ["Hallo", "Guten Tag"].map((text, at) => {
        const role = at === 0 ? ("user" as const) : ("assistant" as const);
        return { id: systemIds.uuid(), role, text, complete: true, createdAt: now() + at };
      });
      const conversationId = systemIds.uuid();
      await world.store.voice.addTranscript("conv-1", conversationId, spoken, null);
      await world.store.voice.addTranscript("conv-1", systemIds.uuid(), spoken, null);

      expect(await typesOf(id)).toEqual([
        ...(["voice.transcript", "conversation.started"] as const),
        ...(["question.unanswered", "message.completed", "conversation.started"] as const),
      ]);
      const told = await Promise.all((await list(id)).map((each) => webhooks().findEvent(id, each.id)));
      expect(told[0]).toMatchObject({
        ...{ conversationId, sessionId: session.sessionId, visitorId: null, sealedVisitor: "v1.who" },
        ...{ createdAt: now() + 1, data: { message_count: 2 }, content: { messages: spoken.map((each) => each.id) } },
      });
      expect(told[2]).toMatchObject({ conversationId: turn.conversationId, content: { question: messageId } });
      const known = await Promise.all((await list(bare.id)).map((each) => webhooks().findEvent(bare.id, each.id)));
      expect(known.map((each) => each?.content)).toEqual([null, null, null, null, null]);
      const words = await webhooks().readWords(turn.conversationId, [messageId, systemIds.uuid()]);
      expect([...words].map(([key, message]) => [key, textOf(message)])).toEqual([[messageId, "Wann öffnet ihr?"]]);
    });

    test("deliveries are given out once at a time, and a conversation's in their order", async () => {
      const { id } = await create({ sealedSecret: "v1.s", includeContent: true });
      const one = await settle();
      const other = await settle();
      const first = await take();
      expect(first.map(({ event }) => event.id)).toEqual([one.events.started.id, other.events.started.id]);
      expect(first[0]).toEqual({
        ...{ accountId: account.id, attempts: 0, webhook: (await webhooks().find(account.id, id)) as never },
        event: {
          ...{ id: one.events.started.id, type: "conversation.started", companionId: companion.id, content: null },
          ...{ conversationId: one.conversationId, sessionId: one.key.sessionId, visitorId: null, sealedVisitor: null },
          ...{ data: { b: 1, a: "Straße" }, createdAt: one.events.started.atMs },
        },
      });
      expect(await take()).toEqual([]);
      await finish(first[0], delivered);
      const next = await take();
      expect(next.map(({ event }) => [event.id, event.content])).toEqual([
        [one.events.ended?.id ?? "", one.events.ended?.content ?? null],
      ]);
      // As if its process had died.
      world.clock.advance(60_000);
      expect((await take()).map(({ event, attempts }) => [event.id, attempts])).toEqual([
        [one.events.ended?.id ?? "", 1],
        [other.events.started.id, 1],
      ]);
      expect(await webhooks().findDelivery(account.id, id, one.events.started.id)).toMatchObject({
        ...{ state: "delivered", status: 204, attempts: 1, dueAt: null },
      });
    });

    test("deliveries that failed wait, and hold the conversation's next", async () => {
      const { id } = await create();
      const turn = await settle();
      const [due] = await take();
      const dueAtMs = now() + hourMs;
      await finish(due, { state: "waiting", status: 500, problem: "It answered 500.", dueAtMs });
      expect(await take()).toEqual([]);
      expect(await webhooks().findNextDue()).toBe(dueAtMs);
      expect(await webhooks().findDelivery(account.id, id, turn.events.started.id)).toMatchObject({
        ...{
          state: "waiting",
          status: 500,
          problem: "It answered 500.",
          attempts: 1,
          attemptedAt: now(),
          dueAt: dueAtMs,
        },
      });
      world.clock.advance(hourMs);
      const [again] = await take();
      expect(again).toMatchObject({ attempts: 1, event: { id: turn.events.started.id } });
      await finish(again, delivered);
      expect((await take()).map(({ event }) => event.id)).toEqual([turn.events.ended?.id ?? ""]);
    });

    test("deliveries of one webhook keep no place from those of others", async () => {
      const busy = await create();
      for (let turn = 0; turn < 5; turn++) await settle();
      const quiet = await create();
      await settle();
      const taken = await take(10, 2);
      expect(taken.map(({ webhook }) => webhook.id).toSorted()).toEqual([busy.id, busy.id, quiet.id].toSorted());
      running.set(busy.id, 2);
      running.set(quiet.id, 1);
      try {
        expect(await take(10, 2)).toEqual([]);
        running.set(busy.id, 1);
        expect((await take(1, 2)).map(({ webhook }) => webhook.id)).toEqual([busy.id]);
      } finally {
        running.clear();
      }
    });

    test("the last failure disables the webhook, and drops what waits, for good", async () => {
      const { id } = await create();
      const kept = await create();
      const turn = await settle();
      await settle();
      const due = (await take()).find(({ webhook }) => webhook.id === id);
      await finish(due, { state: "failed", status: 410, problem: "It answered 410.", reason: "It is gone." });
      expect(await webhooks().find(account.id, id)).toMatchObject({ enabled: false, disabledReason: "It is gone." });
      const states = async () => (await list(id)).map((each) => [each.id, each.state, each.dueAt]);
      expect((await states()).map(([, state]) => state).toSorted()).toEqual([
        "dropped",
        "dropped",
        "dropped",
        "failed",
      ]);
      expect((await audit())[0]).toMatchObject({
        ...{ action: "webhook.disable", targetId: id, details: { reason: "It is gone." }, actor: { kind: "system" } },
      });
      await settle();
      expect((await list(id)).length).toBe(4);
      expect((await list(kept.id)).length).toBe(6);
      world.clock.advance(hourMs);
      expect((await take(100, 100)).every(({ webhook }) => webhook.id === kept.id)).toBe(true);
      const enabled = await webhooks().update(account.id, id, { enabled: true }, world.context());
      expect(enabled).toMatchObject({ enabled: true, disabledReason: null });
      expect((await take(100, 100)).length).toBe(0);
      // By hand.
      const retried = await webhooks().noteRetry(id, turn.events.started.id, { status: 200, problem: null }, now());
      expect(retried).toMatchObject({ state: "delivered", status: 200, problem: null, attempts: 2 });
    });

    test("a webhook that its owner disables is told of nothing more, and drops what waits", async () => {
      const { id } = await create();
      await settle();
      await webhooks().update(account.id, id, { enabled: false }, world.context());
      expect((await list(id)).map(({ state }) => state)).toEqual(["dropped", "dropped"]);
      expect(await take()).toEqual([]);
      expect(await webhooks().findNextDue()).toBeNull();
    });

    test("an attempt by hand that arrives lets the conversation's next go", async () => {
      const { id } = await create();
      const turn = await settle();
      const [due] = await take();
      await finish(due, { state: "waiting", status: null, problem: "No answer.", dueAtMs: now() + hourMs });
      const note = (outcome: { status: number | null; problem: string | null }) =>
        webhooks().noteRetry(id, turn.events.started.id, outcome, now());
      expect(await note({ status: 500, problem: "It answered 500." })).toMatchObject({ state: "waiting", attempts: 1 });
      expect(await take()).toEqual([]);
      expect(await note({ status: 200, problem: null })).toMatchObject({
        state: "delivered",
        attempts: 2,
        dueAt: null,
      });
      expect((await take()).map(({ event }) => event.id)).toEqual([turn.events.ended?.id ?? ""]);
      expect(await webhooks().noteRetry(id, "msg_unknown", { status: 200, problem: null }, now())).toBeNull();
    });

    test("are given out to so many of an account at most, and to others whose turn comes later", async () => {
      await create();
      await create();
      for (let turn = 0; turn < 4; turn++) await settle();
      const other = await world.createAccount();
      const theirs = await create({ events: ["companion.created"] }, other);
      await world.store.companions.create(other.id, newCompanion(), world.context());
      const due = await take(5, 10, 3);
      const ofAccount = (of: string) => due.filter(({ accountId }) => accountId === of);
      expect(ofAccount(account.id)).toHaveLength(3);
      expect(ofAccount(other.id)).toMatchObject([{ webhook: { id: theirs.id } }]);
      expect(await take(5, 10, 0)).toEqual([]);
      runningOf.set(account.id, 3);
      expect(await take(5, 10, 3)).toEqual([]);
      runningOf.delete(account.id);
      expect(await take(5, 10, 3)).toHaveLength(3);
    });

    test("who was erased is forgotten once a receiver knows it, also where somebody asked for the attempt", async () => {
      const { id } = await create();
      const visitorId = systemIds.randomUuid();
      const turn = await settle({ key: { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId } });
      const told: NewEvent = {
        ...eventOf(turn, "visitor.erased", { companionId: null, sealedVisitor: "v1.somebody" }),
        ...{ sessionId: null, visitorId: null },
      };
      await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context(), told);
      const note = (status: number, problem: string | null) =>
        webhooks().noteRetry(id, told.id, { status, problem }, now());
      await note(500, "It answered 500.");
      expect(await webhooks().findEvent(id, told.id)).toMatchObject({ sealedVisitor: "v1.somebody" });
      expect(await note(204, null)).toMatchObject({ state: "delivered", problem: null });
      expect(await webhooks().findEvent(id, told.id)).toBeNull();
    });

    test("nothing of what they tell is left of a visitor who was erased, or of a conversation that was deleted", async () => {
      const { id } = await create({ includeContent: true });
      const visitorId = systemIds.randomUuid();
      const key = (of: string | null) => ({
        companionId: companion.id,
        sessionId: systemIds.randomUuid(),
        visitorId: of,
      });
      const erased = await settle({ key: key(visitorId) });
      const deleted = await settle({ key: key(null) });
      const kept = await settle({ key: key(systemIds.randomUuid()) });
      const failed = { ...world.turnOf(companion, { key: key(visitorId) }), messages: [] };
      const ended = eventOf(failed, "message.failed");
      await world.store.turns.settle({ ...failed, events: { started: ended, ended } });
      const [first] = await take(1);
      await finish(first, delivered);
      const told: NewEvent = {
        ...eventOf(failed, "visitor.erased", { data: { name: visitorId }, companionId: null }),
        ...{ sessionId: null, visitorId: null },
      };
      await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context(), told);
      await world.store.conversations.delete(account.id, deleted.conversationId, world.context());
      const gone = [erased, deleted].flatMap(({ events }) => [events.started.id, events.ended?.id ?? ""]);
      for (const eventId of [...gone, ended.id]) expect(await webhooks().findEvent(id, eventId)).toBeNull();
      for (const eventId of [kept.events.started.id, told.id]) {
        expect(await webhooks().findEvent(id, eventId)).toMatchObject({ id: eventId });
      }
      const states = new Map((await list(id)).map((each) => [each.id, each]));
      expect(gone.map((eventId) => states.get(eventId)?.state)).toEqual(["delivered", "dropped", "dropped", "dropped"]);
      expect(states.get(gone[1] ?? "")?.problem).toBe("What the event was about has been deleted.");
      const due = await take();
      expect(due.map(({ event }) => event.id)).toEqual([kept.events.started.id, told.id]);
      // Nobody needs to know any longer who that was.
      await finish(due[1], delivered);
      expect(await webhooks().findEvent(id, told.id)).toBeNull();
    });

    test("nor of conversations that are past their companion's retention, or whose companion was deleted", async () => {
      const { id } = await create({ events: ["message.completed"] });
      await world.store.companions.update(account.id, companion.id, { retentionDays: 1 }, world.context());
      const old = await settle();
      const other = await world.createCompanion(account);
      const turn = world.turnOf(other);
      const told = { ...eventsOf(turn), ended: eventOf(turn, "message.completed", { companionId: other.id }) };
      await world.store.turns.settle({ ...turn, events: told });
      const isEmptied = async (eventId: string | undefined) => (await webhooks().findEvent(id, eventId ?? "")) === null;
      expect(await isEmptied(old.events.ended?.id)).toBe(false);
      world.clock.advance(2 * 24 * hourMs);
      expect(await world.store.conversations.deleteExpired(now(), 10)).toBe(1);
      await eventually(() => isEmptied(old.events.ended?.id), { what: "the removal of what retention deletes" });
      expect(await isEmptied(told.ended.id)).toBe(false);
      await world.store.companions.delete(account.id, other.id, world.context());
      await eventually(() => isEmptied(told.ended.id), { what: "the removal of what the companion leaves" });
      expect((await list(id)).map(({ state }) => state)).toEqual(["dropped", "dropped"]);
    });

    test("what is sealed of visitors goes with the account's visitor keys, and webhooks with a lost key", async () => {
      const { id } = await create();
      const turn = world.turnOf(companion);
      const ended = eventOf(turn, "message.completed", { sealedVisitor: "v1.somebody" });
      await world.store.turns.settle({ ...turn, events: { started: eventOf(turn, "conversation.started"), ended } });
      expect(await webhooks().findEvent(id, ended.id)).toMatchObject({ sealedVisitor: "v1.somebody" });
      await world.store.visitorKeys.reset(account.id, world.context());
      expect(await webhooks().findEvent(id, ended.id)).toMatchObject({ sealedVisitor: null });
      const other = await create({}, await world.createAccount());
      expect((await webhooks().listHolders(10)).toSorted()).toContain(account.email);
      expect(await webhooks().reset(account.id, world.context())).toBe(true);
      expect(await webhooks().reset(systemIds.uuid(), world.context())).toBe(false);
      expect(await webhooks().find(account.id, id)).toBeNull();
      expect(await webhooks().listHolders(10)).not.toContain(account.email);
      expect(other.enabled).toBe(true);
      await eventually(async () => (await webhooks().countWaiting()) === 0, { what: "the removal" });
    });

    test("a visitor who was erased while the reply was under way is told of no more", async () => {
      const { id } = await create();
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
      const running = [world.turnOf(companion, { key }), { ...world.turnOf(companion, { key }), messages: [] }];
      await world.store.conversations.eraseVisitors(account.id, companion.id, [key.visitorId], world.context());
      for (const turn of running) {
        const ended = eventOf(turn, "message.failed");
        await world.store.turns.settle({ ...turn, events: { started: eventOf(turn, "conversation.started"), ended } });
      }
      expect(await list(id)).toEqual([]);
    });

    test("old deliveries are deleted, and the oldest of a webhook that has too many", async () => {
      const { id } = await create();
      const first = await settle();
      await settle();
      await settle({ key: first.key });
      const ids = (await list(id)).map((each) => each.id).toReversed();
      expect(await webhooks().purge(first.events.started.atMs, 100, 10)).toBe(0);
      expect(await webhooks().purge(0, 4, 10)).toBe(1);
      expect((await list(id)).map((each) => each.id).toReversed()).toEqual(ids.slice(1));
      // What waited behind it goes on.
      expect((await take()).map(({ event }) => event.id)).toContain(ids[1] ?? "");
      world.clock.advance(hourMs);
      expect(await webhooks().purge(now(), 100, 3)).toBe(3);
      expect(await webhooks().purge(now(), 100, 3)).toBe(1);
      expect(await list(id)).toEqual([]);
    });

    test("deliveries go with their webhook, and with the account", async () => {
      const one = await create();
      const other = await create();
      await settle();
      expect(await webhooks().countWaiting()).toBe(4);
      await webhooks().delete(account.id, one.id, world.context());
      await eventually(async () => (await webhooks().countWaiting()) === 2, { what: "the deletion" });
      expect(await list(one.id)).toEqual([]);
      expect((await list(other.id)).length).toBe(2);
      await world.store.accounts.delete(account.id, world.context());
      await eventually(async () => (await webhooks().countWaiting()) === 0, { what: "the deletion" });
    });
  });
}
