/** What every store promises of budgets: nothing is overspent, missed or counted twice, whatever comes at once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { BudgetCheck, BudgetPatch, NewBudget, SpendingCall } from "../../src/contracts/store/store.ts";
import { type Budget, type BudgetSubject, maxBudgets, spendingFactsOf } from "../../src/domain/budget.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { noCost } from "../../src/domain/money.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { answeredBy, unanswered } from "../support/answered.ts";
import {
  day,
  firstPage,
  newApiKey,
  newCompanion,
  type OpenStore,
  openWorld,
  type StoreWorld,
} from "../support/store-world.ts";

/** Of a companion that has nothing set. */
const plain = { model: null, reasoningEffort: null, hasVoice: false, maxOutputTokens: null, promptBytes: 0 };
const price = { micros: 100, picos: 400_000 };

export function spendingStoreContract(open: OpenStore): void {
  let world: StoreWorld;
  let account: Awaited<ReturnType<StoreWorld["createAccount"]>>;
  let companion: Awaited<ReturnType<StoreWorld["createCompanion"]>>;
  beforeEach(async () => {
    world = await openWorld(open);
    account = await world.createAccount();
    companion = await world.createCompanion(account, { metadata: { tenant: "acme", user: { id: 42 } } });
  });
  afterEach(() => world.close());

  const spending = () => world.store.spending;
  const nowMs = () => world.clock.nowMs();
  const newBudget = (fields: Partial<NewBudget> = {}): NewBudget => ({
    ...{ id: systemIds.uuid(), subject: { account: true }, limitMicros: 1_000, period: "day", action: "stop" },
    ...fields,
  });
  const create = (fields: Partial<NewBudget> = {}) =>
    spending().createBudget(account.id, newBudget(fields), world.context());
  const read = async (id: string) => await spending().findBudget(account.id, id, nowMs());
  const factsOf = (metadata: JsonObject = companion.metadata, keyId: string | null = "key-1") =>
    spendingFactsOf({ companionId: companion.id, keyId, metadata });
  const callOf = (fields: Partial<SpendingCall> = {}): SpendingCall => ({
    ...{ id: systemIds.uuid(), accountId: account.id, companionId: companion.id, keyId: "key-1" },
    ...{ ticketId: null, facts: factsOf(), day, answerer: answeredBy, micros: 300, isVoice: false },
    ...{ nowMs: nowMs(), dueAtMs: nowMs() + 60_000 },
    ...fields,
  });
  const settle = (reservationId: string | null, facts = factsOf(), onDay = day, cost = price) =>
    world.store.turns.settle(
      world.turnOf(companion, {
        ...{ keyId: "key-1", day: onDay, cost, spend: { facts, reservationId, atMs: nowMs() } },
      }),
    );
  const spentAndReserved = async (id: string) => {
    const found = await read(id);
    return [found?.spent.micros, found?.spent.picos, found?.reservedMicros];
  };

  test("are known to stop calls while any account has one that does", async () => {
    await create({ action: "notify" });
    expect(await spending().hasStopBudgets()).toBe(false);
    const { id } = await create();
    expect(await spending().hasStopBudgets()).toBe(true);
    await spending().deleteBudget(account.id, id, world.context());
    expect(await spending().hasStopBudgets()).toBe(false);
  });

  test("are made, listed newest first, changed and deleted within their account, and audited", async () => {
    const first = await create({ period: "month", action: "notify", limitMicros: 5 });
    const second = await create({ subject: { metadata: { tenant: "acme", "user.id": 42 } } });
    expect(first).toMatchObject({ spent: { micros: 0, picos: 0 }, reservedMicros: 0, reachedAt: null });
    const listed = await spending().listBudgets(account.id, { limit: 1, afterId: null }, nowMs());
    expect(listed).toEqual({ items: [second], nextAfterId: second.id });
    const oldest = { limit: 1, order: "asc" } as const;
    const begun = await spending().listBudgets(account.id, { ...oldest, afterId: null }, nowMs());
    expect(begun).toEqual({ items: [first], nextAfterId: first.id });
    const ended = await spending().listBudgets(account.id, { ...oldest, afterId: first.id }, nowMs());
    expect(ended).toEqual({ items: [second], nextAfterId: null });
    const next = await spending().listBudgets(account.id, { limit: 1, afterId: second.id }, nowMs());
    expect(next).toEqual({ items: [first], nextAfterId: null });
    const changed = await spending().updateBudget(account.id, first.id, { limitMicros: 7 }, world.context());
    expect(changed).toEqual({ ...first, limitMicros: 7, updatedAt: first.updatedAt + 1 });
    const other = await world.createAccount();
    expect(await spending().findBudget(other.id, first.id, nowMs())).toBeNull();
    expect(await spending().updateBudget(other.id, first.id, { limitMicros: 1 }, world.context())).toBeNull();
    expect(await spending().deleteBudget(other.id, first.id, world.context())).toBe(false);
    expect(await spending().deleteBudget(account.id, first.id, world.context())).toBe(true);
    expect(await read(first.id)).toBeNull();
    const { items } = await world.store.audit.list(account.id, { fromMs: 0, toMs: nowMs() + 1 }, firstPage);
    const own = items.filter(({ action }) => action.startsWith("budget."));
    expect(own.map(({ action, targetId }) => [action, targetId])).toEqual(
      expect.arrayContaining([
        ["budget.delete", first.id],
        ["budget.update", first.id],
        ["budget.create", second.id],
        ["budget.create", first.id],
      ]),
    );
    expect(own).toHaveLength(4);
  });

  test("tell their versions apart, of one moment too, and a change is checked where it is made", async () => {
    const budget = await create();
    const change = (patch: BudgetPatch, check?: BudgetCheck) =>
      spending().updateBudget(account.id, budget.id, patch, world.context(), check);
    const first = await change({ limitMicros: 7 });
    expect(first?.updatedAt).toBeGreaterThan(budget.updatedAt);
    await settle(null);
    const refuse = (current: Budget) => {
      expect(current).toMatchObject({ limitMicros: 7, updatedAt: first?.updatedAt });
      throw new AppError("precondition_failed", "Another one.");
    };
    for (const patch of [{ limitMicros: 8 }, { period: "month" }] as const) {
      await expect(change(patch, refuse)).rejects.toMatchObject({ code: "precondition_failed" });
    }
    const removal = spending().deleteBudget(account.id, budget.id, world.context(), refuse);
    await expect(removal).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await read(budget.id)).toMatchObject({ limitMicros: 7, period: "day", updatedAt: first?.updatedAt });
    const second = await change({ period: "month" }, () => {});
    expect(second?.updatedAt).toBeGreaterThan(first?.updatedAt ?? 0);
    expect(await spending().deleteBudget(account.id, budget.id, world.context(), () => {})).toBe(true);
  });

  const subjects: [string, BudgetSubject, counts: boolean][] = [
    ["the account", { account: true }, true],
    ["its key", { keyId: "key-1" }, true],
    ["another key", { keyId: "key-2" }, false],
    ["metadata, nested and as text", { metadata: { tenant: "acme", "user.id": "42" } }, true],
    ["metadata of which one value differs", { metadata: { tenant: "acme", "user.id": 43 } }, false],
  ];
  test.each(subjects)("count what calls cost by %s, before they were made and after", async (_, subject, counts) => {
    await settle(null);
    const budget = await create({ subject });
    const expected = counts ? [200, 800_000, 0] : [0, 0, 0];
    expect(await spending().sumSpent(account.id, subject, "day", nowMs())).toEqual(
      counts ? price : { micros: 0, picos: 0 },
    );
    await settle(null);
    expect(await spentAndReserved(budget.id)).toEqual(expected);
    expect(await spending().listMatching(account.id, factsOf())).toHaveLength(counts ? 1 : 0);
  });

  test("on a key count the keys that it made and those that took its place, and move with a rotation", async () => {
    const { apiKeys, companions } = world.store;
    const make = (maker: string | null) =>
      apiKeys.create(account.id, newApiKey({ createdByKeyId: maker }), world.context());
    const rotate = (keyId: string, maker: string | null, graceMs = 60_000) => {
      const old = { keyId, endsAt: nowMs() + graceMs };
      return apiKeys.replace(account.id, old, newApiKey({ createdByKeyId: maker }), world.context(), systemIds.uuid);
    };
    const spend = (keyId: string) => {
      const facts = factsOf({}, keyId);
      return world.store.turns.settle(
        world.turnOf(companion, { keyId, day, cost: price, spend: { facts, reservationId: null, atMs: nowMs() } }),
      );
    };
    const spent = async (id: string) => (await read(id))?.spent.micros;
    const [root, other] = [await make(null), await make(null)];
    const child = await make(root.id);
    const { id: onRoot } = await create({ subject: { keyId: root.id }, limitMicros: 10_000 });
    const { id: onChild } = await create({ subject: { keyId: child.id }, limitMicros: 10_000 });
    for (const { id } of [root, child, other]) await spend(id);
    expect([await spent(onRoot), await spent(onChild)]).toEqual([200, 100]);

    // By itself, and by a person: with what is spent and held, and with what the old key still does.
    const grandchild = await make(child.id);
    const held = callOf({ keyId: grandchild.id, facts: factsOf({}, grandchild.id) });
    expect(await spending().reserve(held)).toMatchObject({ isReserved: true });
    const ofChild = await rotate(child.id, child.id);
    const ofRoot = await rotate(root.id, null);
    const moved = await read(onChild);
    expect(moved).toMatchObject({ subject: { keyId: ofChild.id }, updatedAt: nowMs(), reservedMicros: 300 });
    expect((await read(onRoot))?.subject).toEqual({ keyId: ofRoot.id });
    const { items } = await world.store.audit.list(account.id, { fromMs: 0, toMs: nowMs() + 1 }, firstPage);
    const made = items.find(({ action, targetId }) => action === "key.create" && targetId === ofRoot.id);
    expect(made?.details).toMatchObject({ replaces: root.id, budgets_moved: 1 });
    for (const { id } of [child, ofChild, grandchild, root, ofRoot, other]) await spend(id);
    expect([await spent(onRoot), await spent(onChild)]).toEqual([700, 400]);
    const again = await rotate(child.id, null, 0);
    await spend(again.id);
    expect([await spent(onRoot), await spent(onChild)]).toEqual([800, 500]);

    // A new one has seen all of it, and holds what they hold.
    const late = await create({ subject: { keyId: ofChild.id } });
    expect([late.spent.micros, late.reservedMicros]).toEqual([500, 300]);
    expect(await spending().sumSpent(account.id, { keyId: ofRoot.id }, "day", nowMs())).toMatchObject({ micros: 800 });
    const facts = (keyId: string) => spending().listMatching(account.id, factsOf({}, keyId));
    expect((await facts(grandchild.id)).map(({ id }) => id).toSorted()).toEqual([onRoot, onChild, late.id].toSorted());
    expect(await facts(other.id)).toEqual([]);
    expect((await spending().listCountedKeys(ofChild.id)).toSorted()).toEqual(
      [child.id, grandchild.id, ofChild.id, again.id].toSorted(),
    );
    const ofOld = { ...newCompanion({ model: "by the old key" }), createdByKeyId: root.id };
    await companions.create(account.id, ofOld, world.context());
    expect(await spending().listChoices(account.id, { keyId: ofRoot.id })).toEqual([
      { ...plain, model: "by the old key" },
    ]);
  });

  test("count a companion's calls, and no other's", async () => {
    const budget = await create({ subject: { companionId: companion.id } });
    const other = await world.createCompanion(account, {});
    await settle(null);
    await settle(null, spendingFactsOf({ companionId: other.id, keyId: null, metadata: {} }));
    expect(await spentAndReserved(budget.id)).toEqual([100, 400_000, 0]);
    expect(await spending().listChoices(account.id, { companionId: companion.id })).toEqual([plain]);
  });

  test("are told what companions have whose calls they count, and the least that these ask for", async () => {
    const [subject, tenant] = [{ metadata: { tenant: "many" } }, { metadata: { tenant: "many" } }];
    const settings = [
      { ...tenant, maxOutputTokens: 900, systemPrompt: "Müde" },
      { ...tenant, maxOutputTokens: 700, systemPrompt: "Be kind." },
      { ...tenant },
      { ...tenant, model: "dear", systemPrompt: "Be brief." },
      { ...tenant, model: "dear", systemPrompt: "Be polite.", reasoningEffort: "high", voiceId: "v" } as const,
    ];
    for (const one of settings) await world.createCompanion(account, one);
    const choices = await spending().listChoices(account.id, subject);
    expect(choices).toHaveLength(3);
    expect(choices).toEqual(
      expect.arrayContaining([
        { ...plain, maxOutputTokens: 700 },
        { ...plain, model: "dear", promptBytes: 9 },
        { ...plain, model: "dear", promptBytes: 10, reasoningEffort: "high", hasVoice: true },
      ]),
    );
    const prompted = await world.createCompanion(account, settings[0]);
    const own = await spending().listChoices(account.id, { companionId: prompted.id });
    expect(own).toEqual([{ ...plain, maxOutputTokens: 900, promptBytes: 5 }]);
  });

  test("are never overspent by 200 calls at once, each of which holds what it may cost until it ends", async () => {
    const tight = await create({ limitMicros: 10 * 300 + 299, period: "month" });
    const watched = await create({ limitMicros: 1, action: "notify" });
    const calls = Array.from({ length: 200 }, () => callOf());
    const verdicts = await Promise.all(calls.map((call) => spending().reserve(call)));
    const admitted = calls.filter((_, at) => verdicts[at]?.isAdmitted);
    expect(admitted).toHaveLength(10);
    expect(await spentAndReserved(tight.id)).toEqual([0, 0, 3_000]);
    expect(await spentAndReserved(watched.id)).toEqual([0, 0, 3_000]);
    // There is enough, and calls under way hold it.
    const inTheWay = { isAdmitted: false, period: null, reached: [] } as const;
    expect(verdicts.filter(({ isAdmitted }) => !isAdmitted)).toEqual(Array(190).fill(inTheWay));
    expect((await read(tight.id))?.reachedAt).toBeNull();

    const ended = await Promise.all(admitted.slice(0, 5).map(({ id }) => settle(id)));
    expect(ended.flat()).toEqual([{ id: watched.id, accountId: account.id, action: "notify", period: "day" }]);
    await Promise.all(admitted.slice(5).map(({ id }) => spending().release(id)));
    await spending().release("never there");
    expect(await spentAndReserved(tight.id)).toEqual([500, 2_000_000, 0]);
    expect(await spentAndReserved(watched.id)).toEqual([500, 2_000_000, 0]);
    // 502 of 3299 are spent: that alone leaves too little.
    const reached = [{ id: tight.id, accountId: account.id, action: "stop", period: "month" }] as const;
    const tooLittle = await Promise.all([1, 2].map(() => spending().reserve(callOf({ micros: 2_798 }))));
    expect(tooLittle.map((verdict) => verdict.isAdmitted || verdict.period)).toEqual(["month", "month"]);
    expect(tooLittle.flatMap((verdict) => (verdict.isAdmitted ? [] : verdict.reached))).toEqual([...reached]);
    expect((await read(tight.id))?.reachedAt).not.toBeNull();
    expect(await spending().reserve(callOf({ micros: 2_797 }))).toEqual({ isAdmitted: true, isReserved: true });
    // Of several budgets those count that have too little left, and not those that are merely held.
    const small = await create({ limitMicros: 503 });
    expect(await spending().reserve(callOf({ micros: 2 }))).toMatchObject({
      period: "day",
      reached: [{ id: small.id }],
    });
  });

  test("hold what calls under way have reserved, where they are made or changed meanwhile", async () => {
    const watched = await create({ action: "notify" });
    const calls = [callOf(), callOf({ keyId: "key-2", facts: factsOf({}, "key-2") })] as const;
    for (const call of calls) await spending().reserve(call);
    const ofTenant = await create({ subject: { metadata: { tenant: "acme" } }, limitMicros: 500 });
    expect(ofTenant.reservedMicros).toBe(300);
    const stop = await create({ subject: { keyId: "key-2" }, limitMicros: 700 });
    const change = (patch: Partial<Budget>) => spending().updateBudget(account.id, stop.id, patch, world.context());
    expect((await change({ period: "month" }))?.reservedMicros).toBe(300);
    expect((await change({ subject: { account: true } }))?.reservedMicros).toBe(600);
    expect(await spending().reserve(callOf({ micros: 101 }))).toMatchObject({ isAdmitted: false });
    await settle(calls[0].id);
    expect(await spentAndReserved(stop.id)).toEqual([100, 400_000, 300]);
    await spending().release(calls[1].id);
    for (const { id } of [watched, ofTenant, stop]) expect(await spentAndReserved(id)).toEqual([100, 400_000, 0]);
  });

  test("refuse a call that nobody knows the price of, where they stop and not where they only tell", async () => {
    expect(await spending().reserve(callOf())).toEqual({ isAdmitted: true, isReserved: false });
    await create({ action: "notify", limitMicros: 0 });
    expect(await spending().reserve(callOf({ micros: null }))).toEqual({ isAdmitted: true, isReserved: false });
    const budget = await create({});
    const refused = await spending().reserve(callOf({ micros: null }));
    expect(refused).toEqual({ isAdmitted: false, period: "day", reached: [] });
    expect((await read(budget.id))?.reachedAt).toBeNull();
  });

  test("give back what was reserved for a reply that failed, in the commit that counts the failure and what it cost", async () => {
    const budget = await create();
    const place = { ticketId: null, accountId: account.id, companionId: companion.id, keyId: null, day };
    const fail = async (cost: typeof price) => {
      const call = callOf();
      await spending().reserve(call);
      const spend = { facts: factsOf(), reservationId: call.id, atMs: nowMs() };
      await world.store.turns.settleUnkept({ ...place, ...unanswered, failure: "empty", cost, spend });
    };
    await fail(noCost);
    expect(await spentAndReserved(budget.id)).toEqual([0, 0, 0]);
    await fail(price);
    expect(await spentAndReserved(budget.id)).toEqual([100, 400_000, 0]);
    expect(await spending().sumSpent(account.id, { account: true }, "day", nowMs())).toEqual(price);
  });

  test("count a call in the period of the day on which it was admitted", async () => {
    world.clock.step(Date.parse("2026-01-31T23:59:59Z") - nowMs());
    const daily = await create();
    const monthly = await create({ period: "month" });
    const call = callOf({ day: "2026-01-31" });
    await spending().reserve(call);
    world.clock.step(Date.parse("2026-02-01T00:00:01Z") - nowMs());
    expect(await spentAndReserved(daily.id)).toEqual([0, 0, 0]);
    await settle(call.id, factsOf(), "2026-01-31");
    expect(await spentAndReserved(daily.id)).toEqual([0, 0, 0]);
    expect(await spentAndReserved(monthly.id)).toEqual([0, 0, 0]);
    expect(await spending().reserve(callOf({ day: "2026-02-01", micros: 1_000 }))).toMatchObject({
      isReserved: true,
    });
    world.clock.step(Date.parse("2026-01-31T12:00:00Z") - nowMs());
    expect(await spentAndReserved(daily.id)).toEqual([100, 400_000, 0]);
    expect(await spentAndReserved(monthly.id)).toEqual([100, 400_000, 0]);
  });

  test("miss nothing and double nothing that is settled while they are made or changed", async () => {
    // Some under labels of their own, made before and meanwhile.
    const settleSome = () =>
      Array.from({ length: 60 }, async (_, at) => {
        const metadata = { tenant: "acme", at: Math.floor(at / 10) };
        if (at % 10 === 0) await world.store.companions.update(account.id, companion.id, { metadata }, world.context());
        return await settle(null);
      });
    const settled = settleSome();
    const made = await Promise.all([create(), create({ subject: { metadata: { tenant: "acme" } }, period: "month" })]);
    const more = settleSome();
    const [first] = made;
    await spending().updateBudget(account.id, first?.id ?? "", { subject: { keyId: "key-1" } }, world.context());
    await Promise.all([...settled, ...more]);
    const { costMicros, costPicos } = await sumUsage();
    expect([costMicros, costPicos]).toEqual([12_000, 48_000_000]);
    for (const { id } of made) expect(await spentAndReserved(id)).toEqual([12_000, 48_000_000, 0]);
  });

  async function sumUsage() {
    const { micros: costMicros, picos: costPicos } = await spending().sumSpent(
      account.id,
      { account: true },
      "month",
      nowMs(),
    );
    return { costMicros, costPicos };
  }

  test("settle what is due at its worst case, in usage too, so that a later budget has seen the same", async () => {
    const budget = await create({ limitMicros: 600 });
    await spending().reserve(callOf());
    await spending().reserve(callOf({ isVoice: true, keyId: null }));
    expect(await spending().settleDue(nowMs() + 59_999, 10)).toEqual({ settled: 0, reached: [] });
    const { settled, reached } = await spending().settleDue(nowMs() + 60_000, 10);
    expect(settled).toBe(2);
    expect(reached).toEqual([{ id: budget.id, accountId: account.id, action: "stop", period: "day" }]);
    expect(await spentAndReserved(budget.id)).toEqual([600, 0, 0]);
    const later = await create({ subject: { metadata: { tenant: "acme" } } });
    expect(later.spent).toEqual({ micros: 600, picos: 0 });
    expect(await spending().settleDue(nowMs() + 60_000, 10)).toEqual({ settled: 0, reached: [] });
  });

  test("hold what a call has reserved with the facts that it had then", async () => {
    const budget = await create({ subject: { metadata: { tenant: "acme" } } });
    const call = callOf();
    await spending().reserve(call);
    await settle(call.id, factsOf({ tenant: "other" }));
    expect(await spentAndReserved(budget.id)).toEqual([100, 400_000, 0]);
  });

  test("are spent by texts that are embedded too, which count under their model, and as no message", async () => {
    const budget = await create({ limitMicros: 150, action: "notify" });
    const usage = { inputTokens: 12, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const embed = (cost: typeof price) =>
      world.store.turns.recordCall({
        ...{ accountId: account.id, companionId: companion.id, keyId: "key-1", day, usage, cost },
        answeredBy: { provider: "default", model: "small" },
        spend: cost === noCost ? null : { facts: factsOf(), reservationId: null, atMs: nowMs() },
      });
    expect(await embed(noCost)).toEqual([]);
    expect(await embed(price)).toEqual([]);
    expect(await embed(price)).toMatchObject([{ id: budget.id }]);
    expect(await spentAndReserved(budget.id)).toEqual([200, 800_000, 0]);
    const asked = { fromDay: day, toDay: day, groupBy: ["model"], companionId: null, metadata: [] } as const;
    expect(await world.store.usage.query(account.id, asked)).toMatchObject([
      { model: "small", messages: 0, inputTokens: 36, costMicros: 200, costPicos: 800_000, unpriced: 0, errors: 0 },
    ]);
    expect(await world.store.turns.countDay(companion.id, day)).toBe(0);
  });

  test("count anew with another subject or period, and can be reached again under a higher limit", async () => {
    const budget = await create({ limitMicros: 100 });
    const call = callOf({ micros: 90 });
    await spending().reserve(call);
    expect((await settle(null)).map(({ id }) => id)).toEqual([budget.id]);
    const raise = (patch: Partial<Budget>) => spending().updateBudget(account.id, budget.id, patch, world.context());
    expect((await raise({ limitMicros: 200 }))?.reachedAt).toBeNull();
    expect((await raise({ limitMicros: 100 }))?.reachedAt).toBe(nowMs());
    expect(await raise({ subject: { keyId: "key-2" } })).toMatchObject({ spent: { micros: 0 }, reservedMicros: 0 });
    await spending().release(call.id);
    expect(await raise({ subject: { keyId: "key-1" }, period: "month" })).toMatchObject({
      ...{ spent: price, reservedMicros: 0, reachedAt: nowMs() },
    });
  });

  test("settle a voice session with its transcript, under its day and key, once", async () => {
    const budget = await create({ subject: { keyId: "key-1" } });
    const call = callOf({ isVoice: true });
    await spending().reserve(call);
    await world.store.voice.startSession({
      ...{ ticketId: null, providerConversationId: "conv-1", accountId: account.id, companionId: companion.id },
      ...{ sessionId: systemIds.randomUuid(), visitorId: null, sealedVisitor: null, keyId: "key-1", day },
      ...{ reservationId: call.id, createdAt: nowMs() },
    });
    const spoken = { cost: price, provider: "elevenlabs", atMs: nowMs() };
    const add = () => world.store.voice.addTranscript("conv-1", systemIds.uuid(), [], spoken);
    await Promise.all([add(), add()]);
    expect(await spentAndReserved(budget.id)).toEqual([100, 400_000, 0]);
    expect(await spending().sumSpent(account.id, { keyId: "key-1" }, "day", nowMs())).toEqual(price);
  });

  test(`are at most ${maxBudgets} of an account`, async () => {
    const other = await world.createAccount();
    const made = Array.from({ length: 20 }, () => create());
    await Promise.all(made);
    expect((await spending().listBudgets(account.id, { limit: 100, afterId: null }, nowMs())).items).toHaveLength(20);
    expect((await spending().listBudgets(other.id, firstPage, nowMs())).items).toEqual([]);
  });

  test("and stops are told beside the right to a companion", async () => {
    const { companions } = world.store;
    const states = async () => [
      (await companions.findByEmbedToken(companion.embedToken))?.spending,
      await companions.checkEmbedToken(companion.embedToken),
      await companions.checkOwned(account.id, companion.id),
    ];
    expect(await states()).toEqual(Array(3).fill({ isStopped: false, hasBudgets: false, hasWebhooks: false }));
    await create({ action: "notify" });
    expect(await states()).toEqual(Array(3).fill({ isStopped: false, hasBudgets: true, hasWebhooks: false }));
    expect(await spending().stop(account.id, world.context())).toBe(true);
    expect(await states()).toEqual(Array(3).fill({ isStopped: true, hasBudgets: true, hasWebhooks: false }));
    const stoppedAt = nowMs();
    world.clock.advance(1_000);
    expect(await spending().stop(account.id, world.context())).toBe(true);
    expect(await spending().stop(null, world.context())).toBe(true);
    expect(await spending().listStops()).toEqual([
      { accountId: null, stoppedAt: nowMs() },
      { accountId: account.id, stoppedAt },
    ]);
    expect(await spending().findStop(account.id)).toBe(stoppedAt);
    expect(await spending().start(account.id, world.context())).toBe(true);
    expect(await spending().start(account.id, world.context())).toBe(false);
    expect(await spending().findStop(account.id)).toBe(nowMs());
    expect(await spending().start(null, world.context())).toBe(true);
    expect(await states()).toEqual(Array(3).fill({ isStopped: false, hasBudgets: true, hasWebhooks: false }));
    expect(await spending().stop(systemIds.uuid(), world.context())).toBe(false);
  });
}
