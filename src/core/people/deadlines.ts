/** Keeps the deadlines of conversations that people have or were asked for: durable, and kept by whichever instance is up. */

import type { ConversationKey } from "../../domain/conversation.ts";
import type { Handoff } from "../../domain/handoff.ts";
import { decideAbsent, decideDue, decideReleaseAll } from "./asking.ts";
import { createNotices } from "./notices.ts";
import type { PeopleServices, Revision, Revisions } from "./revisions.ts";
import { decideFinish, decideWaitOn } from "./taking.ts";
import { ifQuiet } from "./turn-barrier.ts";
import { isPersonPresent } from "./visitors-side.ts";

export interface Deadlines {
  /** Checks immediately, and from then on whenever something is due. */
  start(): void;
  /** Resolves when the current check is over. */
  stop(): Promise<void>;
  /** Keeps what is due now. */
  check(): Promise<void>;
}

/** A person's absence has no deadline in the record, since it ends with their presence. */
const whileAnyMs = 4_000;
/** What other instances begin: less than the shortest deadline that they can set. */
const whileNoneMs = 20_000;
const afterFailureMs = 4_000;
const strayEachMs = 60_000;
/** What could not be kept is tried again then. */
const againMs = 1_000;
const chunk = 100;

type Due = { readonly key: ConversationKey; readonly handoff: Handoff };

export function createDeadlines(services: PeopleServices, revisions: Revisions): Deadlines {
  const { store, clock, log } = services;
  const notices = services.mail.isOn ? createNotices(services, revisions) : null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let armedForMs = Number.POSITIVE_INFINITY;
  let checking: Promise<void> | null = null;
  let isStopped = true;
  let strayAtMs = Number.NEGATIVE_INFINITY;

  function arm(delayMs: number): void {
    if (isStopped) return;
    const atMs = performance.now() + delayMs;
    if (timer !== null && atMs >= armedForMs) return;
    if (timer !== null) clearTimeout(timer);
    armedForMs = atMs;
    timer = setTimeout(run, delayMs);
    timer.unref();
  }

  function run(): void {
    timer = null;
    checking ??= check()
      .catch((error: unknown) => {
        log.error("deadlines of conversations are left for seconds", { error });
        arm(afterFailureMs);
      })
      .finally(() => {
        checking = null;
      });
  }

  async function check(): Promise<void> {
    while (await keepDue()) if (isStopped) return;
    await findAbsent();
    await notices?.keepDue();
    if (clock.monotonicMs() - strayAtMs >= strayEachMs) await releaseStray();
    const times = [await store.handoffs.findNextDue(), (await notices?.findNext()) ?? null];
    const nextMs = Math.min(...times.map((atMs) => atMs ?? Number.POSITIVE_INFINITY));
    if (nextMs < Number.POSITIVE_INFINITY) arm(Math.min(Math.max(nextMs - clock.nowMs(), againMs), whileAnyMs));
    else if (services.announcements.isShared) arm(whileNoneMs);
  }

  /** Whether there may be more. */
  async function keepDue(): Promise<boolean> {
    const due = await store.handoffs.listDue(clock.nowMs(), chunk);
    let kept = 0;
    for (const one of due) if (await attempt(one, keep)) kept++;
    return due.length === chunk && kept > 0;
  }

  /** One that fails must not hold up the others. */
  async function attempt(due: Due, work: (due: Due, revision: Revision) => Promise<boolean>): Promise<boolean> {
    try {
      const companion = await store.companions.find(due.handoff.accountId, due.key.companionId);
      if (companion === null) return false;
      return await work(due, { conversation: { key: due.key }, companion, actor: { type: "clock" } });
    } catch (error) {
      log.error("a deadline is left for seconds", { error, conversationId: due.handoff.conversationId });
      return false;
    }
  }

  async function keep({ key, handoff }: Due, revision: Revision): Promise<boolean> {
    if (handoff.reserved === null) return (await revisions.run(revision, decideDue))?.hasChanged ?? false;
    const isPresent = await isPersonPresent(services, handoff.accountId, handoff.reserved);
    const finished = await ifQuiet(services, key, () =>
      revisions.run(revision, (on, by) => decideFinish(on, by, isPresent)),
    );
    const revised = finished === null ? await revisions.run(revision, decideWaitOn) : finished.result;
    return revised?.hasChanged ?? false;
  }

  async function findAbsent(): Promise<void> {
    for (const one of await store.handoffs.listAbsent(clock.nowMs(), chunk)) await attempt(one, giveUp);
  }

  /** What a command or the end of a key has left: this server is not notified of these. */
  async function releaseStray(): Promise<void> {
    for (const one of await store.handoffs.listStray(clock.nowMs(), chunk)) await attempt(one, release);
    strayAtMs = clock.monotonicMs();
  }

  async function release({ handoff: { person, reserved } }: Due, revision: Revision): Promise<boolean> {
    const isSame = (now: Handoff) => now.person?.id === person?.id && now.reserved?.id === reserved?.id;
    const server: Revision = { ...revision, actor: { type: "server" } };
    return (await revisions.run(server, (on, by) => decideReleaseAll(on, by, isSame)))?.hasChanged ?? false;
  }

  async function giveUp({ handoff }: Due, revision: Revision): Promise<boolean> {
    const { person } = handoff;
    if (person === null) return false;
    return (await revisions.run(revision, (on, by) => decideAbsent(on, by, person.id)))?.hasChanged ?? false;
  }

  revisions.onDeadline = (untilMs) => arm(Math.min(Math.max(untilMs - clock.nowMs(), 0), whileAnyMs));

  return {
    start() {
      isStopped = false;
      run();
    },
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      await checking;
    },
    check,
  };
}
