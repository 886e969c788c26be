/** What every storage engine must do with the people of an account. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NewMember, OneTimeLink, Session } from "../../src/contracts/store/store.ts";
import { type Account, asMember } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const unlimited = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

export function memberStoreContract(open: OpenStore): void {
  describe("members", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount({ email: "owner@shop.example" });
    });
    afterEach(() => world.close());

    async function invite(fields: Partial<NewMember> = {}, of = account): Promise<NewMember> {
      const defaults = { email: "grace@shop.example", name: "Grace", role: "responder", companionIds: null } as const;
      const member = { id: systemIds.uuid(), ...defaults, ...fields };
      await world.store.members.create(of.id, member, makeLink(member.id, of), world.context());
      return member;
    }

    function makeLink(memberId: string, of = account, expiresAt = 9e15): OneTimeLink {
      return { hash: systemIds.uuid(), kind: "invitation", accountId: of.id, memberId, expiresAt };
    }

    async function link(memberId: string, of = account, expiresAt = 9e15): Promise<OneTimeLink> {
      const made = makeLink(memberId, of, expiresAt);
      await world.store.sessions.createLink(made, world.context());
      return made;
    }

    async function join(memberId: string, of = account) {
      return world.store.sessions.spendInvitation((await link(memberId, of)).hash, "hash", world.context());
    }

    async function signIn(memberId: string | null): Promise<Session> {
      const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 9e15 };
      const session = {
        id: systemIds.uuid(),
        accountId: account.id,
        memberId,
        userAgent: null,
        ipPrefix: null,
        ...times,
      };
      await world.store.sessions.create(session, session.id, world.context());
      return session;
    }

    test("are listed behind the account's own sign-in, with what they were given", async () => {
      const { members } = world.store;
      const { nowMs } = world.context();
      const grace = await invite({ companionIds: ["c1", "c2"], role: "owner" });
      const common = { accountId: account.id, notify: { mail: true, words: false }, totpConfirmedAt: null };
      const own = { id: account.id, email: account.email, name: null, role: "owner", companionIds: null } as const;
      const times = { joinedAt: account.createdAt, createdAt: account.createdAt };
      expect(await members.list(account.id)).toEqual([
        { ...own, ...common, ...times },
        { ...grace, ...common, joinedAt: null, createdAt: expect.any(Number) },
      ]);
      expect((await members.find(account.id, grace.id))?.createdAt).toBeGreaterThanOrEqual(nowMs);
      const other = await world.createAccount();
      expect(await members.find(other.id, grace.id)).toBeNull();
      expect(await members.list(systemIds.uuid())).toEqual([]);
    });

    test("change by field, also the own sign-in's name, and move the change mark", async () => {
      const { companions, members, audit } = world.store;
      const grace = await invite();
      const mark = await companions.getChangeMark();
      const patch = { role: "owner", companionIds: ["c1"], notify: { mail: false, words: true } } as const;
      expect(await members.update(account.id, grace.id, patch, world.context())).toMatchObject({ ...grace, ...patch });
      expect(await companions.getChangeMark()).not.toBe(mark);
      expect(await members.find(account.id, grace.id)).toMatchObject({ ...grace, ...patch });
      expect(await members.update(account.id, grace.id, { companionIds: null }, world.context())).toMatchObject({
        companionIds: null,
        notify: patch.notify,
      });
      await members.update(account.id, account.id, { name: "Ada" }, world.context());
      expect(await members.find(account.id, account.id)).toMatchObject({ name: "Ada", role: "owner" });
      expect(await members.update(account.id, systemIds.uuid(), { name: "x" }, world.context())).toBeNull();
      const refuse = () => {
        throw new Error("no");
      };
      await expect(members.update(account.id, grace.id, { name: "x" }, world.context(), refuse)).rejects.toThrow("no");
      expect((await members.find(account.id, grace.id))?.name).toBe("Grace");
      const { items } = await audit.list(account.id, unlimited, firstPage);
      expect(items.map(({ action, targetId, details }) => [action, targetId, details])).toEqual([
        ["account.update", account.id, { changed: ["name"] }],
        ["member.update", grace.id, { changed: ["companionIds"] }],
        ["member.update", grace.id, { changed: ["role", "companionIds", "notify"] }],
        ["member.create", grace.id, { role: "responder" }],
        ["account.create", account.id, { plan: "free", role: "owner" }],
      ]);
    });

    test("are as many as the plan allows, however many are invited at once", async () => {
      const holdings = { companions: 9, keys: 9, tokensPerCompanion: 9, members: 3, bytes: 9e9 };
      const context = () => ({ ...world.context(), holdings: { free: holdings, paid: holdings } });
      const create = (number: number) => {
        const member = { id: systemIds.uuid(), email: `m${number}@shop.example`, name: "M", role: "owner" } as const;
        const link = makeLink(member.id);
        return world.store.members.create(account.id, { ...member, companionIds: null }, link, context());
      };
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, number) => create(number)));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      const refused = outcomes.find(({ status }) => status === "rejected");
      expect(refused).toMatchObject({ reason: { code: "limit_reached" } });
      expect(await world.store.members.list(account.id)).toHaveLength(4);
    });

    test("sign in once they have joined, as members of their account and never as operators", async () => {
      const { accounts, members, sessions } = world.store;
      await accounts.update(account.id, { role: "operator" }, world.context());
      const grace = await invite();
      expect(await sessions.findAccess(grace.email)).toBeNull();
      const old = await link(grace.id);
      const newer = await link(grace.id);
      expect(await sessions.spendInvitation(old.hash, "hash", world.context())).toBeNull();
      const joined = await sessions.spendInvitation(newer.hash, "hash", world.context());
      const member = await members.find(account.id, grace.id);
      if (member === null) throw new Error("gone");
      expect(member.joinedAt).not.toBeNull();
      const access = { account: asMember({ ...account, role: "operator" }, member), member };
      expect(joined).toEqual(access);
      expect(joined?.account).toMatchObject({ id: account.id, email: grace.email, role: "owner" });
      expect(await sessions.findAccess(grace.email)).toEqual({ ...access, passwordHash: "hash" });
      expect(await sessions.spendInvitation(newer.hash, "again", world.context())).toBeNull();
      const session = await signIn(grace.id);
      expect(await sessions.findByHash(session.id)).toEqual({ session, ...access });
      const late = await link(grace.id, account, 1);
      expect(await sessions.spendInvitation(late.hash, "late", { ...world.context(), nowMs: 1 })).toBeNull();
    });

    test("sign in with an address of their own: it is one person's, whoever comes first", async () => {
      const { accounts, members } = world.store;
      const other = await world.createAccount();
      const email = "ada@shop.example";
      const invited = [await invite({ email }), await invite({ email }, other)] as const;
      const outcomes = await Promise.allSettled([join(invited[0].id), join(invited[1].id, other)]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
      const [first, second] = await Promise.all([members.list(account.id), members.list(other.id)]);
      expect([first[1]?.joinedAt, second[1]?.joinedAt].filter((at) => at === null)).toHaveLength(1);
      const fresh = { id: systemIds.uuid(), email, plan: "free", role: "owner", passwordHash: null } as const;
      await expect(accounts.create(fresh, world.context())).rejects.toMatchObject({ errors: [{ param: "email" }] });
      const taken = await invite({ email: other.email });
      await expect(join(taken.id)).rejects.toMatchObject({ code: "conflict" });
      expect(await members.find(account.id, taken.id)).toMatchObject({ joinedAt: null });
    });

    test("have password, sessions and second factor of their own", async () => {
      const { accounts, secondFactors, sessions } = world.store;
      const grace = await invite();
      await join(grace.id);
      const person = { accountId: account.id, memberId: grace.id };
      const [own, kept, ended] = [await signIn(null), await signIn(grace.id), await signIn(grace.id)];
      expect(await sessions.list(ownIdentity(account.id))).toEqual([own]);
      expect((await sessions.list(person)).map(({ id }) => id).sort()).toEqual([kept.id, ended.id].sort());
      expect(await sessions.revoke(person, own.id, world.context())).toBe(false);
      const stranger = { accountId: (await world.createAccount()).id, memberId: grace.id };
      expect(await accounts.setPassword(stranger, "stolen", null, world.context())).toBe(false);
      expect(await accounts.setPassword(person, "changed", kept.id, world.context())).toBe(true);
      expect(await sessions.list(person)).toEqual([kept]);
      expect((await sessions.findAccess(grace.email))?.passwordHash).toBe("changed");
      const shown = { passwordHash: "hash", totpConfirmedAt: null };
      expect(await sessions.create({ ...ended, id: "late" }, "late", world.context(), shown)).toBe(false);

      expect(await secondFactors.begin(stranger, "stolen", world.context())).toBe(false);
      await secondFactors.begin(person, "sealed", world.context());
      const confirmation = { sealedSecret: "sealed", step: 7, recoveryHashes: ["c1", "c2"], keptSessionId: "none" };
      expect(await secondFactors.confirm(stranger, confirmation, world.context())).toBe(false);
      expect(await secondFactors.confirm(person, confirmation, world.context())).toBe(true);
      expect(await secondFactors.find(stranger)).toBeNull();
      expect(await secondFactors.takeStep(stranger, 8)).toBe(false);
      expect(await secondFactors.remove(stranger, world.context())).toBe(false);
      expect(await sessions.list(ownIdentity(account.id))).toEqual([own]);
      expect(await sessions.list(person)).toEqual([]);
      expect(await secondFactors.find(ownIdentity(account.id))).toBeNull();
      expect(await secondFactors.listHolders(5)).toEqual([grace.email]);
      expect(await secondFactors.takeStep(ownIdentity(account.id), 8)).toBe(false);
      expect(await secondFactors.takeStep(person, 8)).toBe(true);
      expect(await secondFactors.takeRecoveryCode(ownIdentity(account.id), "c1", world.context())).toBe(false);
      expect(await secondFactors.takeRecoveryCode(person, "c1", world.context())).toBe(true);
      expect((await secondFactors.find(person))?.recoveryCodesLeft).toBe(1);
      expect(await secondFactors.remove(person, world.context())).toBe(true);
      expect((await sessions.findAccess(grace.email))?.account.totpConfirmedAt).toBeNull();
    });

    test("are gone with all that signs them in, and their entries still name them", async () => {
      const { audit, companions, members, sessions } = world.store;
      const grace = await invite();
      await join(grace.id);
      const [own, session] = [await signIn(null), await signIn(grace.id)];
      const open = await link(grace.id);
      const mail = { id: systemIds.uuid(), accountId: account.id, companionId: null, conversationId: null } as const;
      const about = { memberId: grace.id, kind: "invitation", sealed: null, expiresAtMs: null } as const;
      await world.store.mails.add({ ...mail, ...about, createdAtMs: 1, dueAtMs: 1 });
      const mark = await companions.getChangeMark();
      const context = world.context();
      const actor = { ...context.actor, member: { id: grace.id, name: grace.name } };
      expect(await members.remove(account.id, grace.id, { ...context, actor })).toBe(true);
      expect(await companions.getChangeMark()).not.toBe(mark);
      expect(await members.remove(account.id, grace.id, world.context())).toBe(false);
      expect(await members.remove(account.id, account.id, world.context())).toBe(false);
      expect(await sessions.findByHash(session.id)).toBeNull();
      expect(await sessions.findByHash(own.id)).not.toBeNull();
      expect(await sessions.findLink(open.hash, 0)).toBeNull();
      expect(await world.store.mails.findNextDue()).toBeNull();
      expect(await sessions.findAccess(grace.email)).toBeNull();
      const [newest] = (await audit.list(account.id, unlimited, firstPage)).items;
      expect(newest).toMatchObject({ action: "member.delete", targetId: grace.id, actor: { member: actor.member } });
      // The address is free again.
      expect(await join((await invite()).id)).not.toBeNull();
    });

    test("leave no conversation assigned to them, and are present no more, which followers of changes are shown", async () => {
      const { handoffs, members, turns } = world.store;
      const [grace, other] = [await invite(), await invite()];
      const companion = await world.createCompanion(account);
      const conversations: string[] = [];
      for (const assigneeId of [grace.id, other.id, grace.id]) {
        const turn = world.turnOf(companion, {
          key: { ...world.turnOf(companion).key, sessionId: systemIds.randomUuid() },
        });
        await turns.settle(turn);
        conversations.push(turn.conversationId);
        const request = { newConversationId: null, clientId: null, clientIdOf: "visitor", arrivalMark: null } as const;
        const decide = () => ({ fields: { assigneeId, tags: ["kept"] } });
        await handoffs.revise({ ...request, conversation: { key: turn.key }, decide }, world.context());
      }
      const presence = { companionIds: null, isAvailable: true, seenAtMs: 1, untilMs: null } as const;
      const person = { id: grace.id, name: grace.name, memberId: grace.id, keyId: null };
      await handoffs.setPresence(account.id, { ...presence, person });
      const [newest] = (await handoffs.listSince(account.id, 0, 10, null)).slice(-1);
      await members.remove(account.id, grace.id, world.context());
      const changed = await handoffs.listSince(account.id, newest?.handoff.change ?? 0, 10, null);
      expect(changed.map(({ conversationId, handoff }) => [conversationId, handoff.assigneeId, handoff.tags])).toEqual([
        [conversations[0] ?? "", null, ["kept"]],
        [conversations[2] ?? "", null, ["kept"]],
      ]);
      expect(new Set(changed.map(({ handoff }) => handoff.change)).size).toBe(2);
      expect((await handoffs.findOf(account.id, conversations[1] ?? ""))?.handoff?.assigneeId).toBe(other.id);
      expect(await handoffs.findPresence(account.id, grace.id)).toBeNull();
    });

    test("leave with their account", async () => {
      const grace = await invite();
      await join(grace.id);
      await world.store.accounts.delete(account.id, world.context());
      expect(await world.store.sessions.findAccess(grace.email)).toBeNull();
      expect(await world.store.members.find(account.id, grace.id)).toBeNull();
    });
  });
}
