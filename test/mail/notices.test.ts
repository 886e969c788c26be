/** Mail about conversations: to the team, of what waits for them, and to visitors, of what people wrote. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createDeadlines } from "../../src/core/people/deadlines.ts";
import { Revisions } from "../../src/core/people/revisions.ts";
import type { Account } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import type { Person } from "../../src/domain/handoff.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { openMemberDashboard } from "../support/dashboard.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { conversationOf, handoffSettings, placesOf } from "../support/people-world.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

const minuteMs = 60_000;
const leads = { when: "always", consentText: "You may write to me.", replyTo: "team@shop.example" } as const;

let smtp: SmtpServer;
let server: TestServer;
let clock: ManualClock;
let account: Account;
beforeEach(async () => {
  clock = createManualClock(Date.now());
  smtp = await startSmtpServer({});
  shown = 0;
  server = await startTestServer({
    clock,
    environment: {
      COMPANIOND_SMTP_URL: `smtp://localhost:${smtp.port}`,
      COMPANIOND_MAIL_FROM: "chat@shop.example",
      COMPANIOND_PUBLIC_URL: "https://chat.shop.example",
    },
  });
  // What is due is only kept here, by `pass`.
  await server.services.people.close();
  account = await server.createAccount({ email: "zoe@shop.example" });
});
afterEach(async () => {
  await server.close();
  await smtp[Symbol.asyncDispose]();
});

let shown = 0;

/** Sends what is due, after that time; returns what was sent since the call before. */
async function pass(ms = 0) {
  clock.advance(ms);
  const { mail } = server.services;
  await createDeadlines(server.services, new Revisions(server.services)).check();
  mail.wake();
  await mail.whenIdle();
  const sent = smtp.mails.slice(shown);
  shown = smtp.mails.length;
  return sent.map(({ to, headers, body }) => {
    return { to: to.join(), subject: headers.get("subject") ?? "", replyTo: headers.get("reply-to"), body };
  });
}

async function begin(settings: Partial<CompanionSettings> = {}) {
  const handoff = { ...handoffSettings, when: "always", waitSeconds: 900 } as const;
  const companion = await server.createCompanion({ name: "Ada", handoff, leads, ...settings }, account);
  const conversation = conversationOf(server, companion, clock);
  const { people, store } = server.services;
  const place = async (person: Person) => {
    const found = await store.handoffs.find(conversation.key);
    return placesOf(conversation, found?.conversationId ?? "").as(person);
  };
  return {
    ...conversation,
    place,
    ask: () => people.ask(conversation.visitor, "visitor", null),
    keep: (text: string) => people.keepMessage(conversation.visitor, { text, messageId: null, isPlain: false }),
    leave: (email = "visitor@example.com") =>
      people.leaveContact(conversation.visitor, { email, name: "Vi", message: null }),
    async write(person: Person, text: string) {
      return await people.say(await place(person), { text, clientId: crypto.randomUUID(), afterSeq: null });
    },
    find: () => store.handoffs.find(conversation.key),
  };
}

const personOf = (id: string, name: string): Person => ({ id, name, memberId: id, keyId: null });

const setPresent = (person: Person) =>
  server.services.store.handoffs.setPresence(account.id, {
    ...{ person, companionIds: null, isAvailable: true, seenAtMs: clock.nowMs(), untilMs: null },
  });

describe("the team", () => {
  test("has mail at once where nobody is present: all who see the companion and want it, without the visitor's words", async () => {
    const { ask, companion, keep, find } = await begin();
    const other = await server.createCompanion({}, account);
    await openMemberDashboard(server, { account }, { email: "grace@shop.example" });
    await openMemberDashboard(server, { account }, { email: "bo@shop.example", companionIds: [companion.id] });
    await openMemberDashboard(server, { account }, { email: "elsewhere@shop.example", companionIds: [other.id] });
    const { member } = await openMemberDashboard(server, { account }, { email: "quiet@shop.example" });
    await server.services.store.members.update(
      account.id,
      member.id,
      { notify: { mail: false, words: true } },
      testContext(),
    );
    const { id } = (await server.services.store.members.list(account.id)).find(({ email }) =>
      email.startsWith("bo"),
    ) ?? { id: "" };
    await server.services.store.members.update(account.id, id, { notify: { mail: true, words: true } }, testContext());
    await ask();
    await keep("Is anybody there?");
    const mails = await pass();
    expect(mails.map(({ to }) => to).toSorted()).toEqual(["bo@shop.example", "grace@shop.example", "zoe@shop.example"]);
    const url = `https://chat.shop.example/app/conversations/${(await find())?.conversationId}`;
    for (const { subject, body, to } of mails) {
      expect(subject).toBe("Someone is waiting at Ada");
      expect(body).toContain(url);
      expect(body.includes("> Is anybody there?")).toBe(to.startsWith("bo"));
    }
    expect(await pass(minuteMs)).toEqual([]);
    expect(server.log.text()).not.toMatch(/shop\.example|anybody there/);
  });

  test("has a minute where somebody is present, and no mail of what is taken or over by then", async () => {
    const grace = personOf((await openMemberDashboard(server, { account })).member.id, "Grace");
    const [taken, over, waiting] = [await begin(), await begin(), await begin()];
    await setPresent(grace);
    for (const { ask } of [taken, over, waiting]) await ask();
    expect(await pass(59_000)).toEqual([]);
    const { people } = server.services;
    await people.take(await taken.place(grace), { stop: true, from: null });
    await people.goBack(over.visitor);
    // Still there, and has not taken it.
    await setPresent(grace);
    const mails = await pass(1_000);
    expect(mails).toHaveLength(2);
    const { conversationId } = (await waiting.find()) ?? { conversationId: "none" };
    for (const { body } of mails) expect(body).toContain(conversationId);
  });

  test("has no mail that became needless between its commit and its sending", async () => {
    const { ask, place } = await begin();
    await ask();
    smtp.choices.replies = { MAIL: "451 Later" };
    expect(await pass()).toEqual([]);
    smtp.choices.replies = {};
    await server.services.people.take(await place(personOf("somebody", "Somebody")), { stop: true, from: null });
    expect(await pass(10 * minuteMs)).toEqual([]);
    expect(await server.services.store.mails.findNextDue()).toBeNull();
  });

  test("has mail of an ask that found nobody, and of a contact, but one in five minutes for a conversation", async () => {
    const { ask, leave } = await begin({ handoff: { ...handoffSettings, when: "present" } });
    await ask();
    expect((await pass()).map(({ subject }) => subject)).toEqual(["Someone asked for a person at Ada"]);
    await leave();
    expect(await pass(4 * minuteMs)).toEqual([]);
    expect((await pass(minuteMs)).map(({ subject }) => subject)).toEqual(["Someone left a contact at Ada"]);
    expect(await pass(10 * minuteMs)).toEqual([]);
  });

  test("a visitor's later messages are told to their person alone, once, unless they have answered", async () => {
    await openMemberDashboard(server, { account }, { email: "bo@shop.example" });
    const { member } = await openMemberDashboard(server, { account }, { email: "grace@shop.example" });
    const grace = personOf(member.id, "Grace");
    const { ask, keep, write } = await begin({
      handoff: { ...handoffSettings, when: "always", idleMinutes: 600 },
    });
    await setPresent(grace);
    await ask();
    await write(grace, "Hello");
    expect(await pass(2 * minuteMs)).toEqual([]);
    await keep("One");
    await keep("Two");
    const mails = await pass();
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([["grace@shop.example", "A new message at Ada"]]);
    await keep("Three");
    await write(grace, "Here I am.");
    expect(await pass(10 * minuteMs)).toEqual([]);
  });

  test("is sent one mail though several servers look", async () => {
    const { ask } = await begin();
    await setPresent(personOf(account.id, "Zoe"));
    await ask();
    clock.advance(minuteMs);
    const look = () => createDeadlines(server.services, new Revisions(server.services)).check();
    await Promise.all([look(), look(), look()]);
    expect(await pass()).toHaveLength(1);
  });
});

describe("a visitor's contact", () => {
  const grace = personOf("grace", "Grace");

  test("is sent what people wrote and was not seen for five minutes, all in one mail", async () => {
    const { leave, write, find } = await begin();
    await leave();
    await pass();
    await write(grace, "We are back on Monday.");
    await write(grace, "At nine.");
    expect(await pass(5 * minuteMs - 1_000)).toEqual([]);
    const mails = await pass(1_000);
    expect(mails).toMatchObject([
      { to: "visitor@example.com", subject: "Ada: an answer to your message", replyTo: "team@shop.example" },
    ]);
    expect(mails[0]?.body).toContain("Grace:\nWe are back on Monday.\n\nGrace:\nAt nine.");
    expect(await find()).toMatchObject({ answerMailAtMs: null });
    expect(await pass(3 * 60 * minuteMs)).toEqual([]);
  });

  test("is sent nothing that was seen, nor what follows within an hour, nor a fourth mail", async () => {
    const { leave, write, find, key } = await begin({
      handoff: { ...handoffSettings, when: "always", idleMinutes: 1_440 },
    });
    await leave();
    await pass();
    await write(grace, "Seen");
    await server.services.store.handoffs.markSeen(key, 1);
    expect(await pass(5 * minuteMs)).toEqual([]);
    for (const text of ["First", "Second", "Third"]) {
      await write(grace, text);
      const early = await pass(5 * minuteMs);
      const late = await pass(60 * minuteMs);
      const sent = [...early, ...late];
      expect(sent.map(({ body }) => body.match(/Grace:\n(.*)/)?.[1])).toEqual([text]);
      expect(early).toHaveLength(1);
      clock.advance(60 * minuteMs);
    }
    await write(grace, "Fourth");
    expect(await pass(24 * 60 * minuteMs)).toEqual([]);
    expect(await find()).toMatchObject({ answerMailAtMs: null });
  });

  test("waits for the rest of the hour", async () => {
    const { leave, write } = await begin();
    await leave();
    await pass();
    await write(grace, "One");
    expect(await pass(5 * minuteMs)).toHaveLength(1);
    await write(grace, "Two");
    expect(await pass(59 * minuteMs)).toEqual([]);
    expect((await pass(minuteMs)).map(({ body }) => body.includes("Two"))).toEqual([true]);
  });

  test("is sent nothing once it is deleted, or its conversation", async () => {
    const [one, other] = [await begin(), await begin()];
    await one.leave();
    await other.leave();
    await pass();
    for (const { write } of [one, other]) await write(grace, "Hello");
    const { store } = server.services;
    const idOf = async ({ find }: typeof one) => (await find())?.conversationId ?? "";
    await store.feedback.deleteContact(account.id, await idOf(one), testContext());
    await store.conversations.delete(account.id, await idOf(other), testContext());
    expect(await pass(5 * minuteMs)).toEqual([]);
    expect(await store.feedback.findNextMail()).toBeNull();
  });
});
