/** What every storage engine must do with the outbox of mail. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { MailAdded, NewMail } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { mailsPerDay } from "../../src/domain/mail.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const minuteMs = 60_000;

export function mailStoreContract(open: OpenStore): void {
  describe("mail", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account, { retentionDays: 30 });
    });
    afterEach(() => world.close());

    const mails = () => world.store.mails;
    const now = () => world.clock.nowMs();
    const newMail = (fields: Partial<NewMail> = {}): NewMail => ({
      ...{ id: systemIds.uuid(), accountId: account.id, companionId: null, conversationId: null, memberId: null },
      ...{ kind: "invitation", sealed: "v1.sealed", createdAtMs: now(), dueAtMs: now(), expiresAtMs: null },
      ...fields,
    });
    const take = (limit = 10) => mails().takeDue(now(), now() + minuteMs, limit);
    const listLeft = async () =>
      (await mails().takeDue(Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER - 1, 100)).map(({ id }) => id);

    async function addMail(fields: Partial<NewMail> = {}): Promise<NewMail> {
      const mail = newMail(fields);
      expect(await mails().add(mail)).toEqual({ result: "kept" });
      return mail;
    }

    async function converse(visitorId: string): Promise<string> {
      const turn = world.turnOf(companion, {
        key: { companionId: companion.id, sessionId: systemIds.uuid(), visitorId },
      });
      await world.store.turns.settle(turn);
      return turn.conversationId;
    }

    test("is given out once it is due, oldest first, as it was added, and to nobody else before its time", async () => {
      const later = await addMail({ dueAtMs: now() + 5 * minuteMs, expiresAtMs: now() + 30 * minuteMs });
      const second = await addMail({ dueAtMs: now() - 1 });
      const first = await addMail({ dueAtMs: now() - 2, sealed: null, memberId: account.id, kind: "reset_link" });
      expect(await take(1)).toEqual([{ ...first, tries: 0 }]);
      expect(await take()).toEqual([{ ...second, tries: 0 }]);
      expect(await take()).toEqual([]);
      world.clock.advance(minuteMs);
      expect((await take()).map(({ id, tries }) => ({ id, tries }))).toEqual([
        { id: second.id, tries: 1 },
        { id: first.id, tries: 1 },
      ]);
      expect(await mails().findNextDue()).toBe(now() + minuteMs);
      world.clock.advance(4 * minuteMs);
      expect((await take()).at(-1)).toEqual({ ...later, tries: 0 });
    });

    test("is given to one of several that ask at the same instant", async () => {
      for (let at = 0; at < 8; at++) await addMail();
      const taken = await Promise.all(Array.from({ length: 6 }, () => take(3)));
      const ids = taken.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length + (await take()).length).toBe(8);
    });

    test("is gone once it is sent, waits after a try that failed, and stays a day after the last", async () => {
      const [sent, waiting, failed] = [await addMail(), await addMail(), await addMail()];
      await take();
      await mails().finish(sent.id, { state: "done" }, now());
      await mails().finish(waiting.id, { state: "waiting", dueAtMs: now() + 5 * minuteMs }, now());
      await mails().finish(failed.id, { state: "failed", problem: "mail.example:465 replied 550." }, now());
      expect(await mails().findNextDue()).toBe(now() + 5 * minuteMs);
      world.clock.advance(5 * minuteMs);
      expect((await take()).map(({ id }) => id)).toEqual([waiting.id]);
      await mails().finish(waiting.id, { state: "done" }, now());
      expect(await mails().findNextDue()).toBeNull();
      expect(await mails().purge(now() - 6 * minuteMs, 10)).toBe(0);
      expect(await mails().purge(now() + 1, 10)).toBe(1);
      await mails().finish(systemIds.uuid(), { state: "done" }, now());
    });

    test("that nobody has sent is purged as well, in slices", async () => {
      for (let at = 0; at < 3; at++) await addMail();
      expect(await mails().purge(now() + 1, 2)).toBe(2);
      expect(await mails().purge(now() + 1, 2)).toBe(1);
      expect(await listLeft()).toEqual([]);
    });

    test("is dropped beyond the day's number of its account, whatever became of the others, and not of other accounts", async () => {
      const heard: [string, readonly MailAdded[]][] = [];
      mails().onAdded((...told) => void heard.push(told));
      for (let at = 0; at < mailsPerDay; at++) await addMail();
      for (const due of await mails().takeDue(now(), now() + 1, mailsPerDay))
        await mails().finish(due.id, { state: "done" }, now());
      const beyond = await Promise.all([1, 2, 3].map(() => mails().add(newMail())));
      expect(beyond.map((one) => one.result)).toEqual(["dropped", "dropped", "dropped"]);
      expect(beyond.filter((one) => one.result === "dropped" && one.isFirst)).toHaveLength(1);
      expect(heard.filter(([of]) => of === account.id)).toHaveLength(mailsPerDay + 3);
      expect(await listLeft()).toEqual([]);
      const other = await world.createAccount();
      expect(await mails().add(newMail({ accountId: other.id }))).toEqual({ result: "kept" });
      world.clock.advance(24 * 60 * minuteMs);
      expect(await mails().add(newMail())).toEqual({ result: "kept" });
    });

    test("about something that is gone is not kept", async () => {
      const gone = systemIds.uuid();
      for (const fields of [{ accountId: gone }, { companionId: gone }, { conversationId: gone }]) {
        expect(await mails().add(newMail(fields))).toEqual({ result: "absent" });
      }
      expect(await listLeft()).toEqual([]);
    });

    describe("goes with what it is about", () => {
      async function addAll(visitorId: string) {
        const conversationId = await converse(visitorId);
        const stays = await addMail();
        const about = await addMail({ companionId: companion.id, conversationId });
        return { conversationId, stays, about };
      }

      test("a conversation that is deleted", async () => {
        const { conversationId, stays } = await addAll("visitor-1");
        await world.store.conversations.delete(account.id, conversationId, world.context());
        expect(await listLeft()).toEqual([stays.id]);
      });

      test("a visitor who is erased", async () => {
        const { stays } = await addAll("visitor-1");
        const { about: another } = await addAll("visitor-2");
        await world.store.conversations.eraseVisitors(account.id, companion.id, ["visitor-1"], world.context());
        const left = await listLeft();
        expect(left).toContain(stays.id);
        expect(left).toContain(another.id);
        expect(left).toHaveLength(3);
      });

      test("a conversation past its retention", async () => {
        const { stays } = await addAll("visitor-1");
        expect(await world.store.conversations.deleteExpired(now() + 31 * 24 * 60 * minuteMs, 10)).toBe(1);
        expect(await listLeft()).toEqual([stays.id]);
      });

      test("a companion", async () => {
        const { stays } = await addAll("visitor-1");
        await addMail({ companionId: companion.id });
        await world.store.companions.delete(account.id, companion.id, world.context());
        expect(await listLeft()).toEqual([stays.id]);
      });

      test("an account", async () => {
        await addAll("visitor-1");
        const other = await world.createAccount();
        const stays = await addMail({ accountId: other.id });
        await world.store.accounts.delete(account.id, world.context());
        expect(await listLeft()).toEqual([stays.id]);
      });
    });
  });
}
