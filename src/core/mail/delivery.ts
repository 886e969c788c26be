/** Sends the mail of the outbox: written when it is sent, two at a time, and again by the schedule. */
import type { MailServer } from "../../contracts/mail.ts";
import type { DueMail, MailAdded, MailEnd } from "../../contracts/store/store.ts";
import type { JsonObject } from "../../domain/json.ts";
import { findNextTry, mailsPerDay, mailTries } from "../../domain/mail.ts";
import { createDueWorker } from "../../lib/due-worker.ts";
import { openOrNull } from "../../lib/sealing.ts";
import type { Services } from "../dependencies.ts";
import { keepMail, sealedMailName } from "./keep-mail.ts";
import type { Letter, LetterWriters, Mail } from "./mail.ts";

export type MailServices = Pick<Services, "store" | "sealing" | "clock" | "ids" | "log" | "measurements">;

interface DeliveryOptions {
  server: MailServer;
  from: Letter["to"];
  writers: LetterWriters;
}

const maxAtOnce = 2;
/** Longer than a try: then its process has died. */
const leaseMs = 60_000;
/** How long closing waits for mail that is being handed over. */
const lastTryMs = 800;
const lostKey = "What it says cannot be read: it was sealed with another key.";

export function createMailDelivery(services: MailServices, { server, from, writers }: DeliveryOptions): Mail {
  const { store, sealing, clock, log, measurements } = services;
  const closing = new AbortController();
  const worker = createDueWorker<DueMail>({
    atOnce: maxAtOnce,
    // Commands keep mail as well, and other servers.
    isShared: true,
    nowMs: () => clock.nowMs(),
    take: (limit) => store.mails.takeDue(clock.nowMs(), clock.nowMs() + leaseMs, limit),
    work: deliver,
    findNextDue: () => store.mails.findNextDue(),
    onFailure: (error) => log.error("mail is left for a minute", { error }),
  });
  store.mails.onAdded(note);
  worker.wake();

  function note(accountId: string, added: readonly MailAdded[]): void {
    for (const one of added) {
      if (one.result !== "dropped") continue;
      measurements.mails.dropped++;
      if (one.isFirst) log.warn("mail dropped for the rest of the day", { accountId, maxADay: mailsPerDay });
    }
    worker.wake();
  }

  /** Never rejects: what is not noted is sent again after its lease. */
  async function deliver(mail: DueMail): Promise<void> {
    const facts = { mailId: mail.id, kind: mail.kind, accountId: mail.accountId };
    try {
      const { end, isSent } = await attempt(mail);
      // Whether it has arrived is not known: it is sent again when the lease ends.
      if (end.state === "waiting" && closing.signal.aborted) return;
      await store.mails.finish(mail.id, end, clock.nowMs());
      if (isSent) measurements.mails.sent++;
      if (isSent) log.info("mail sent", { ...facts, tries: mail.tries + 1 });
      if (end.state !== "failed") return;
      measurements.mails.failed++;
      log.warn("mail failed", { ...facts, tries: mail.tries + 1, problem: end.problem });
    } catch (error) {
      if (!closing.signal.aborted) log.error("mail left for a minute", { ...facts, error });
    }
  }

  async function attempt(mail: DueMail): Promise<{ end: MailEnd; isSent: boolean }> {
    const fail = (problem: string) => ({ end: { state: "failed", problem } as const, isSent: false });
    const { id, tries, createdAtMs } = mail;
    if (mail.expiresAtMs !== null && mail.expiresAtMs <= clock.nowMs()) return fail("It came too late to be of use.");
    // The last try's process has died over it.
    if (tries >= mailTries) return fail("Its last try was cut off.");
    const content = await open(mail);
    if (content === "lost") return fail(lostKey);
    const letter = await writers[mail.kind](mail, content);
    if (letter === null) return { end: { state: "done" }, isSent: false };
    const { to, subject, text } = letter;
    const replyTo = letter.replyTo === null ? null : { name: "", address: letter.replyTo };
    const message = { id, from, to, replyTo, subject, text, writtenAtMs: createdAtMs };
    const outcome = await server.send(message, closing.signal);
    if (outcome.kind === "sent") return { end: { state: "done" }, isSent: true };
    const dueAtMs = outcome.kind === "rejected" ? null : findNextTry(tries + 1, clock.nowMs());
    if (dueAtMs === null || (mail.expiresAtMs !== null && mail.expiresAtMs <= dueAtMs)) return fail(outcome.problem);
    log.warn("mail is tried again", { mailId: id, kind: mail.kind, tries: tries + 1, problem: outcome.problem });
    return { end: { state: "waiting", dueAtMs }, isSent: false };
  }

  async function open({ id, accountId, sealed }: DueMail): Promise<JsonObject | null | "lost"> {
    if (sealed === null) return null;
    const text = await openOrNull(sealing, sealedMailName(accountId, id), sealed);
    return text === null ? "lost" : JSON.parse(text);
  }

  return {
    isOn: true,
    send: async (request) => (await keepMail(services, request, clock.nowMs())).result === "kept",
    wake: worker.wake,
    whenIdle: worker.whenIdle,
    async close() {
      worker.stop();
      const late = setTimeout(() => closing.abort(new Error("the server is stopping")), lastTryMs);
      await worker.whenIdle();
      clearTimeout(late);
    },
  };
}
