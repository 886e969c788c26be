/** What changes of a conversation's state have in common: their fields, lines of history, audit entries and events. */
import type { DecidedOn, HandoffChange } from "../../contracts/store/handoffs.ts";
import type { NewEvent } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import {
  type ConversationState,
  type HandoffActor,
  type HandoffEvent,
  type HandoffEventType,
  type HandoffSettings,
  noticeEveryMs,
  type Person,
  reachMs,
  type StateReason,
} from "../../domain/handoff.ts";
import type { JsonObject } from "../../domain/json.ts";
import { visitorFactsOf } from "../../domain/visitor.ts";
import type { EventContent, EventType } from "../../domain/webhook.ts";
import { toNullableRfc3339 } from "../../lib/clock.ts";

/** Who decides, and when. */
export interface Deciding {
  readonly companion: Pick<Companion, "id" | "accountId" | "metadata" | "handoff">;
  readonly actor: HandoffActor;
  readonly nowMs: number;
  /** Of this change alone: its events are named after it. */
  readonly id: string;
}

export type Fields = NonNullable<HandoffChange["fields"]>;

type Details = NonNullable<HandoffChange["audit"]>["details"];

const minuteMs = 60_000;

export function settingsOf({ companion }: Deciding): Pick<HandoffSettings, "waitSeconds" | "idleMinutes"> {
  // A reply to a contact of a companion without `handoff` takes nothing, so that no deadline begins.
  return companion.handoff ?? { waitSeconds: 0, idleMinutes: 0 };
}

export const idleUntil = (by: Deciding) => by.nowMs + settingsOf(by).idleMinutes * minuteMs;

/** Something waits for the team: it has mail about it, unless it is over by then. */
export function noticeFields({ handoff }: DecidedOn, { nowMs }: Deciding): Fields {
  const earliestMs = handoff?.noticedAtMs == null ? nowMs : handoff.noticedAtMs + noticeEveryMs;
  return { noticeSinceMs: handoff?.noticeSinceMs ?? nowMs, noticeAtMs: Math.max(nowMs, earliestMs) };
}

export const noNotice = { noticeSinceMs: null, noticeAtMs: null } as const;

/** The state becomes `waiting` or `person`. */
export function leaveFields({ handoff, newestSeq }: DecidedOn, state: ConversationState, by: Deciding): Fields {
  const isLeaving = handoff === null || handoff.state === "companion";
  const returnedAtMs = handoff?.returnedAtMs ?? null;
  // A listener who was away since then has not got what people wrote before they left.
  const isReached = returnedAtMs !== null && by.nowMs - returnedAtMs <= reachMs;
  return {
    state,
    sinceMs: by.nowMs,
    ...(isLeaving && !isReached && { reachSeq: newestSeq, returnedAtMs: null }),
    // People have written nothing before there was a record.
    ...(handoff === null && { plainSeq: newestSeq }),
  };
}

/** The state becomes `companion` again. */
export function returnFields(reason: StateReason, nowMs: number): Fields {
  return {
    ...{ state: "companion", reason, sinceMs: nowMs, untilMs: null, returnedAtMs: nowMs },
    ...{ person: null, reserved: null, owedSinceMs: null, wasPresent: false },
  };
}

export function lineOf(by: Deciding, type: HandoffEventType, sealedReason: string | null = null): HandoffEvent {
  return { type, atMs: by.nowMs, by: by.actor, sealedReason };
}

/** An event of the conversation, for webhooks. */
export function eventOf(
  { key, sealedVisitor }: Pick<DecidedOn, "key" | "sealedVisitor">,
  { companion, nowMs, id }: Deciding,
  type: EventType,
  data: JsonObject,
  content: EventContent | null = null,
): NewEvent {
  const { accountId, id: companionId } = companion;
  const { sessionId, visitorId } = key;
  return {
    ...{ id: `msg_${id}_${type.slice(type.indexOf(".") + 1)}`, accountId, type, atMs: nowMs },
    ...{ companionId, sessionId, visitorId, sealedVisitor, facts: visitorFactsOf(companion), data, content },
  };
}

/** A person in an event. */
export function toEventPerson(person: Person | null): JsonObject | null {
  return person && { name: person.name, member_id: person.memberId, key_id: person.keyId };
}

export function requestedEvent(on: DecidedOn, by: Deciding, untilMs: number): NewEvent {
  return eventOf(on, by, "handoff.requested", { by: by.actor.type, until: toNullableRfc3339(untilMs) });
}

export function releasedEvent(on: DecidedOn, by: Deciding, reason: StateReason): NewEvent {
  return eventOf(on, by, "handoff.released", { reason, person: toEventPerson(on.handoff?.person ?? null) });
}

export function missedEvent(on: DecidedOn, by: Deciding): NewEvent {
  return eventOf(on, by, "handoff.missed", { by: by.actor.type });
}

export function auditOf(by: Deciding, action: string, details: Details = {}): NonNullable<HandoffChange["audit"]> {
  const whose = by.actor.type === "person" ? { personId: by.actor.person.id } : {};
  return { action: `conversation.${action}`, details: { companionId: by.companion.id, ...whose, ...details } };
}
