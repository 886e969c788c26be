/** What every storage engine must do with conversations that nobody of the team is there for any more. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { HandoffChange, Presence } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { type Companion, newCompanionSettings } from "../../src/domain/companion.ts";
import type { ConversationKey } from "../../src/domain/conversation.ts";
import { type Handoff, type HandoffSettings, type Person, personIdOfKey } from "../../src/domain/handoff.ts";
import { maxPresent } from "../../src/domain/presence.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const handoff: HandoffSettings = {
  ...{ mode: "any", ask: [], when: "always", hours: null, waitSeconds: 30, idleMinutes: 30 },
  ...{ waitingText: null, personText: null, unavailableText: null },
};

export function watchedHandoffContract(open: OpenStore): void {
  let world: StoreWorld;
  let account: Account;
  let companion: Companion;
  beforeEach(async () => {
    world = await openWorld(open);
    account = await world.createAccount();
    companion = await world.createCompanion(account, { handoff });
  });
  afterEach(() => world.close());

  const handoffs = () => world.store.handoffs;
  const nowMs = () => world.clock.nowMs();

  async function makeKey(): Promise<string> {
    const key = newApiKey();
    await world.store.apiKeys.create(account.id, key, world.context());
    return key.id;
  }
  const personOf = (keyId: string): Person => {
    return { id: personIdOfKey(keyId, { name: "Ada" }), name: "Ada", memberId: null, keyId };
  };

  async function invite(companionIds: readonly string[] | null): Promise<{ id: string }> {
    const member = { id: systemIds.uuid(), email: "bob@shop.example", name: "Bob", role: "responder" } as const;
    const link = {
      hash: systemIds.secret(43),
      kind: "invitation",
      accountId: account.id,
      memberId: member.id,
    } as const;
    const invitation = { ...link, expiresAt: nowMs() + 1_000 };
    await world.store.members.create(account.id, { ...member, companionIds }, invitation, world.context());
    return member;
  }
  const personOfMember = (id: string): Person => ({ id, name: "Bob", memberId: id, keyId: null });

  /** In a conversation of its own. */
  async function make(fields: NonNullable<HandoffChange["fields"]>, of = companion): Promise<ConversationKey> {
    const key = { companionId: of.id, sessionId: systemIds.randomUuid(), visitorId: null };
    const place = { conversation: { key }, newConversationId: systemIds.uuid(), clientId: null, arrivalMark: null };
    const request = { ...place, clientIdOf: "visitor", decide: () => ({ fields }) } as const;
    await handoffs().revise(request, world.context());
    return key;
  }
  const sessions = (found: { key: ConversationKey; handoff: Handoff }[]) => found.map(({ key }) => key.sessionId);
  const present = (person: Person, fields: Partial<Presence>) =>
    handoffs().setPresence(account.id, {
      ...{ person, companionIds: null, isAvailable: true, seenAtMs: null, untilMs: null, ...fields },
    });

  describe("who went away", () => {
    const taken = (person: Person, fields: Partial<Handoff> = {}): Partial<Handoff> => {
      const times = { sinceMs: nowMs(), untilMs: nowMs() + 1_800_000, owedSinceMs: nowMs() };
      return { state: "person", person, ...times, ...fields };
    };
    const absent = async () => sessions(await handoffs().listAbsent(nowMs(), 10));

    test("is named once the shortest wait is over, if they were there and are no longer, longest wait first", async () => {
      const [ada, eve] = [personOf(await makeKey()), personOf(await makeKey())];
      const later = await make(taken(ada, { owedSinceMs: nowMs() + 1 }));
      const first = await make(taken(ada));
      await make(taken(ada, { owedSinceMs: null }));
      const never = await make(taken(eve));
      await make({ ...taken(ada), state: "waiting", person: null });
      await present(ada, { untilMs: nowMs() + 40_000 });
      world.clock.advance(30_001);
      expect(await absent()).toEqual([]);
      world.clock.advance(9_999);
      expect(await absent()).toEqual([first, later].map(({ sessionId }) => sessionId));
      const [one] = await handoffs().listAbsent(nowMs(), 1);
      expect(one).toMatchObject({ key: first, handoff: { state: "person", person: ada } });
      // Whoever was there when they took it.
      await make({ ...taken(eve), owedSinceMs: nowMs() - 30_000, wasPresent: true });
      expect(await absent()).toHaveLength(3);
      expect(await absent()).not.toContain(never.sessionId);
    });

    test("is a member whose switch is on and whose dashboard was not open for a minute", async () => {
      const member = { id: systemIds.uuid(), name: "Bob", memberId: systemIds.uuid(), keyId: null };
      const { sessionId } = await make(taken(member));
      await present(member, { seenAtMs: nowMs() });
      world.clock.advance(59_999);
      expect(await absent()).toEqual([]);
      world.clock.advance(1);
      expect(await absent()).toEqual([sessionId]);
      await handoffs().recordSeen([member.id], nowMs());
      expect(await absent()).toEqual([]);
      await present(member, { isAvailable: false });
      expect(await absent()).toEqual([sessionId]);
    });

    test("is no member whose switch is off, however long their dashboard is open; one who was there before it was turned off", async () => {
      const member = { id: systemIds.uuid(), name: "Bob", memberId: systemIds.uuid(), keyId: null };
      await present(member, { isAvailable: false });
      const { sessionId } = await make(taken(member));
      world.clock.advance(31_000);
      await handoffs().recordSeen([member.id], nowMs());
      expect(await absent()).toEqual([]);
      await present(member, {});
      await handoffs().recordSeen([member.id], nowMs());
      await present(member, { isAvailable: false });
      expect(await absent()).toEqual([sessionId]);
    });

    test("is nobody of another account with the same name", async () => {
      const ada = personOf(await makeKey());
      const { sessionId } = await make(taken(ada, { wasPresent: true }));
      const other = await world.createAccount();
      await handoffs().setPresence(other.id, {
        ...{ person: { ...ada, id: `x${ada.id}` }, companionIds: null, isAvailable: true },
        ...{ seenAtMs: null, untilMs: nowMs() + 3_600_000 },
      });
      world.clock.advance(30_000);
      expect(await absent()).toEqual([sessionId]);
    });
  });

  test("conversations that a key's people have are stray once the key is revoked or over", async () => {
    const [kept, revoked] = [await makeKey(), await makeKey()];
    const ending = newApiKey({ expiresAt: nowMs() + 1_000 });
    await world.store.apiKeys.create(account.id, ending, world.context());
    const stray = async () => sessions(await handoffs().listStray(nowMs(), 10)).toSorted();
    await make({ state: "person", person: personOf(kept) });
    const [one, two] = [
      await make({ state: "person", person: personOf(revoked) }),
      await make({ state: "person", person: personOf(ending.id) }),
    ];
    await make({ state: "companion", tags: ["vip"] });
    expect(await stray()).toEqual([]);
    await world.store.apiKeys.revoke(account.id, revoked, world.context(), systemIds.uuid);
    expect(await stray()).toEqual([one.sessionId]);
    world.clock.advance(1_000);
    expect(await stray()).toEqual([one.sessionId, two.sessionId].toSorted());
  });

  test("conversations that a member has are stray once the member is removed; the account's own sign-in stays", async () => {
    const member = await invite(null);
    const { sessionId } = await make({ state: "person", person: personOfMember(member.id) });
    await make({ state: "person", person: personOfMember(account.id) });
    expect(await handoffs().listStray(nowMs(), 10)).toEqual([]);
    await world.store.members.remove(account.id, member.id, world.context());
    expect(sessions(await handoffs().listStray(nowMs(), 10))).toEqual([sessionId]);
  });

  test("conversations are stray once their companion hands none over", async () => {
    const { sessionId } = await make({ state: "waiting" });
    const { handoff: none } = newCompanionSettings("Ada");
    await world.store.companions.update(account.id, companion.id, { handoff: none }, world.context());
    expect(sessions(await handoffs().listStray(nowMs(), 10))).toEqual([sessionId]);
  });

  test("who is present is named with the companions that they may see, and no key that has ended", async () => {
    const [bob, keyId] = [await invite([companion.id]), await makeKey()];
    await present(personOfMember(bob.id), { seenAtMs: nowMs() });
    await present(personOfMember(account.id), { seenAtMs: nowMs() });
    await present(personOf(keyId), { untilMs: nowMs() + 60_000 });
    const list = async () =>
      new Map((await handoffs().listPresent(account.id, nowMs())).map((one) => [one.person.id, one.companionIds]));
    const members: [string, readonly string[] | null][] = [
      [bob.id, [companion.id]],
      [account.id, null],
    ];
    expect(await list()).toEqual(new Map([...members, [personOf(keyId).id, null]]));
    await world.store.apiKeys.revoke(account.id, keyId, world.context(), systemIds.uuid);
    expect(await list()).toEqual(new Map(members));
    await world.store.members.remove(account.id, bob.id, world.context());
    expect(await list()).toEqual(new Map([[account.id, null]]));
  });

  test("of a key's people only so many are present within an hour, whoever was before makes room", async () => {
    const keyId = await makeKey();
    const named = (name: number): Person => ({ ...personOf(keyId), id: `${keyId}:${name}` });
    const be = (name: number, fields: Partial<Presence> = {}) =>
      present(named(name), { untilMs: nowMs() + 60_000, ...fields });
    for (let name = 0; name < maxPresent; name++) await be(name);
    await expect(be(-1)).rejects.toMatchObject({ code: "limit_reached" });
    await be(0);
    await present(personOfMember(account.id), { seenAtMs: nowMs() });
    expect(await handoffs().listPresent(account.id, nowMs())).toHaveLength(maxPresent + 1);
    await be(1, { isAvailable: false, untilMs: null });
    await be(-1);
    world.clock.advance(60 * 60_000 + 1);
    await be(1, { untilMs: nowMs() + 60_000 });
    expect(await handoffs().findPresence(account.id, named(2).id)).toBeNull();
    expect(await handoffs().listPresent(account.id, nowMs())).toHaveLength(1);
  });

  test("conversations are counted by state", async () => {
    await make({ state: "waiting" });
    await make({ state: "waiting" });
    await make({ state: "person", person: personOf(await makeKey()) });
    await make({ state: "companion", status: "open" });
    expect(await handoffs().countState("waiting")).toBe(2);
    expect(await handoffs().countState("person")).toBe(1);
  });
}
