/** Changes of conversations' records: each is decided and committed by the store, and then sent to who listens. */
import type { ArrivalMark } from "../../contracts/coordination.ts";
import type { ConversationRef, DecidedOn, HandoffChange, Revised } from "../../contracts/store/handoffs.ts";
import type { AuditActor, WriteContext } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { type HandoffActor, isOutside } from "../../domain/handoff.ts";
import type { Services } from "../dependencies.ts";
import { queueKeyOf } from "../turns/conversation-storage.ts";
import { decideReleaseAll } from "./asking.ts";
import type { Deciding } from "./change.ts";

export type PeopleServices = Pick<
  Services,
  | "store"
  | "coordination"
  | "clock"
  | "ids"
  | "log"
  | "sealing"
  | "visitors"
  | "measurements"
  | "announcements"
  | "live"
  | "mail"
>;

export interface Revision {
  readonly conversation: ConversationRef;
  readonly companion: Companion;
  readonly actor: HandoffActor;
  /** Of a person's request; left out where no person made it. */
  readonly context?: WriteContext;
  readonly requestId?: string;
  /** As in `RevisionRequest`. */
  readonly newConversationId?: string | null;
  readonly clientId?: string | null;
  readonly arrivalMark?: ArrivalMark | null;
}

export type Decide = (on: DecidedOn, by: Deciding) => HandoffChange | null;

const kinds = { visitor: "visitor", model: "model", clock: "clock", server: "system", person: "system" } as const;
/** How other instances learn that someone has a conversation; a turn that runs there stops. */
const takenPrefix = "taken ";

export class Revisions {
  readonly #services: PeopleServices;
  /** By the key of the conversation's queue. */
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Called with each deadline that begins. */
  onDeadline: (untilMs: number) => void = () => {};

  constructor(services: PeopleServices) {
    this.#services = services;
    services.announcements.onReceived((received) => {
      if (received === "may_have_missed" || !received.text.startsWith(takenPrefix)) return;
      this.#notifyTaken(received.text.slice(takenPrefix.length));
    });
  }

  /** Null if there is no such conversation. Rejects as the decision throws, and as the store does. */
  async run(revision: Revision, decide: Decide): Promise<Revised | null> {
    const { store, clock, ids } = this.#services;
    const { conversation, companion, actor, newConversationId = null, clientId = null, arrivalMark = null } = revision;
    const { context = this.contextOf(actor, revision.requestId) } = revision;
    const by = { companion, actor, nowMs: clock.nowMs(), id: ids.uuid() };
    const clientIdOf = actor.type === "person" ? "person" : "visitor";
    const request = { conversation, newConversationId, clientId, clientIdOf, arrivalMark } as const;
    const revised = await store.handoffs.revise({ ...request, decide: (on) => decide(on, by) }, context);
    if (revised?.hasChanged) this.#note(revised, companion, revised.seq === null ? null : clientIdOf);
    const isLeaving = revised?.hasChanged && isOutside(revised.handoff) && !isOutside(revised.before);
    return isLeaving ? await this.#comeBackWithoutHandoff(revised, companion) : revised;
  }

  /**
   * `handoff` may have become null since the caller read the companion: then what was released with it did not include this
   * conversation yet, whose companion would answer although it is outside.
   */
  async #comeBackWithoutHandoff(revised: Revised, { accountId, id }: Companion): Promise<Revised> {
    const now = await this.#services.store.companions.find(accountId, id);
    if (now === null || now.handoff !== null) return revised;
    const back: Revision = { conversation: { key: revised.key }, companion: now, actor: { type: "server" } };
    return (await this.run(back, (on, by) => decideReleaseAll(on, by, () => true))) ?? revised;
  }

  onTaken(key: ConversationKey, listener: () => void): () => void {
    const queueKey = queueKeyOf(key);
    const listeners = this.#listeners.get(queueKey) ?? new Set();
    this.#listeners.set(queueKey, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(queueKey) === listeners) this.#listeners.delete(queueKey);
    };
  }

  contextOf({ type }: HandoffActor, requestId: string | null = null): WriteContext {
    const { clock, ids } = this.#services;
    const actor: AuditActor = { kind: kinds[type], id: null, ipPrefix: null, requestId };
    return { actor, nowMs: clock.nowMs(), auditId: ids.uuid() };
  }

  #note(
    { key, conversationId, handoff, before }: Revised,
    { accountId }: Companion,
    wrote: "visitor" | "person" | null,
  ): void {
    const { live, announcements, mail, measurements } = this.#services;
    live.noteChanged({ accountId, conversationId, key, wrote });
    const { untilMs = null, noticeAtMs = null, answerMailAtMs = null } = handoff ?? {};
    for (const atMs of mail.isOn ? [untilMs, noticeAtMs, answerMailAtMs] : [untilMs]) {
      if (atMs !== null) this.onDeadline(atMs);
    }
    if (handoff?.state !== "person" || before?.state === "person") return;
    if (before?.state === "waiting" && before.sinceMs !== null && handoff.sinceMs !== null) {
      measurements.handoffWaitSeconds.observe(Math.max(0, handoff.sinceMs - before.sinceMs) / 1000);
    }
    const queueKey = queueKeyOf(key);
    this.#notifyTaken(queueKey);
    if (announcements.isShared) announcements.send(takenPrefix + queueKey);
  }

  #notifyTaken(queueKey: string): void {
    for (const listener of [...(this.#listeners.get(queueKey) ?? [])]) listener();
  }
}
