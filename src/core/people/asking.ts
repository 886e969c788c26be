/** What becomes of a conversation when a person is asked for, offered, or no longer wanted. Pure. */
import type { DecidedOn, HandoffChange } from "../../contracts/store/handoffs.ts";
import type { NewEvent } from "../../contracts/store/store.ts";
import { type Handoff, isOutside, missedAgainMs, stateConflict } from "../../domain/handoff.ts";
import {
  auditOf,
  type Deciding,
  eventOf,
  leaveFields,
  lineOf,
  missedEvent,
  noNotice,
  noticeFields,
  releasedEvent,
  requestedEvent,
  returnFields,
  settingsOf,
} from "./change.ts";

export interface Ask {
  readonly isAvailable: boolean;
  readonly sealedReason: string | null;
  /** What is known of a verified visitor, whose conversation may begin with this. */
  readonly sealedVisitor: string | null;
  /** The id of the conversation, if it begins with this. */
  readonly newId: string;
}

/** A repeated ask changes nothing. Where no one is available the state stays, and the ask counts as missed immediately. */
export function decideAsk(given: DecidedOn, by: Deciding, ask: Ask): HandoffChange | null {
  const on = { ...given, sealedVisitor: ask.sealedVisitor ?? given.sealedVisitor };
  const { handoff } = on;
  if (handoff !== null && handoff.state !== "companion") return null;
  const { companion, actor } = by;
  const mayAsk = actor.type !== "visitor" || companion.handoff?.ask.includes("visitor") || handoff?.isOffered;
  if (!mayAsk) throw stateConflict("Visitors cannot ask for a person here.", handoff);
  return ask.isAvailable ? request(on, by, ask) : miss(on, by, ask);
}

function request(on: DecidedOn, by: Deciding, { sealedReason, newId }: Ask): HandoffChange {
  const untilMs = by.nowMs + settingsOf(by).waitSeconds * 1000;
  return {
    fields: {
      ...leaveFields(on, "waiting", by),
      ...{ reason: "asked", isAsked: true, status: "open", owedSinceMs: by.nowMs, ...noticeFields(on, by) },
      // Someone takes it already, and waits for the reply under way.
      untilMs: on.handoff?.reserved ? on.handoff.untilMs : untilMs,
    },
    events: [lineOf(by, "asked", sealedReason)],
    audit: auditOf(by, "ask"),
    webhookEvents: [...startedEvents(on, by, newId), requestedEvent(on, by, untilMs)],
  };
}

function miss(on: DecidedOn, by: Deciding, { sealedReason, newId }: Ask): HandoffChange | null {
  const lastMs = on.handoff?.missedAtMs ?? null;
  if (lastMs !== null && by.nowMs - lastMs < missedAgainMs) {
    // Announced already; but what was closed or answered since is open again.
    return on.handoff?.status === "open" ? null : { fields: { status: "open" } };
  }
  return {
    fields: {
      ...{ isAsked: true, missedAtMs: by.nowMs, status: "open", ...noticeFields(on, by) },
      ...(on.handoff === null && { plainSeq: on.newestSeq }),
    },
    events: [lineOf(by, "asked", sealedReason), lineOf(by, "missed")],
    audit: auditOf(by, "miss"),
    webhookEvents: [...startedEvents(on, by, newId), missedEvent(on, by)],
  };
}

/** None if a turn has begun the conversation: that has reported it. */
export function startedEvents(on: DecidedOn, by: Deciding, newId: string): NewEvent[] {
  if (on.conversationId !== newId) return [];
  return [eventOf(on, { ...by, id: newId }, "conversation.started", { channel: "text" })];
}

export function decideOffer({ handoff, newestSeq }: DecidedOn): HandoffChange | null {
  if (handoff?.isOffered) return null;
  return { fields: { isOffered: true, ...(handoff === null && { plainSeq: newestSeq }) } };
}

export function decideGoBack(on: DecidedOn, by: Deciding): HandoffChange | null {
  return isOutside(on.handoff) ? comeBack(on, by, "visitor") : null;
}

/** `handoff` became null, or the person who has it, or was about to take it, is gone. */
export function decideReleaseAll(
  on: DecidedOn,
  by: Deciding,
  isMeant: (handoff: Handoff) => boolean,
): HandoffChange | null {
  const { handoff } = on;
  if (handoff === null || !isMeant(handoff)) return null;
  if (handoff.state === "waiting" && handoff.reserved !== null && by.companion.handoff !== null) {
    // The visitor still waits, for another.
    return { fields: { reserved: null, untilMs: by.nowMs + settingsOf(by).waitSeconds * 1000 } };
  }
  if (handoff.state !== "companion") return comeBack(on, by, "released");
  return handoff.reserved && { fields: { reserved: null, untilMs: null } };
}

/** The deadline of an ask that no one took, or of silence. */
export function decideDue(on: DecidedOn, by: Deciding): HandoffChange | null {
  const { handoff } = on;
  if (!isOutside(handoff) || handoff.reserved !== null) return null;
  if (handoff.untilMs === null || handoff.untilMs > by.nowMs) return null;
  if (handoff.state === "person") return comeBack(on, by, "idle");
  return missAsk(on, by);
}

/** An ask that waited for nothing: its time is over, or the team has declined it. */
export function missAsk(on: DecidedOn, by: Deciding): HandoffChange {
  return {
    // Who declines it knows of it; otherwise the team still has its mail.
    fields: { ...returnFields("missed", by.nowMs), ...(by.actor.type === "person" && noNotice) },
    events: [lineOf(by, "missed")],
    audit: auditOf(by, "miss"),
    webhookEvents: [missedEvent(on, by)],
  };
}

/** The person was present, is so no longer, and leaves the visitor unanswered: another one is waited for. */
export function decideAbsent(on: DecidedOn, by: Deciding, personId: string): HandoffChange | null {
  const { handoff } = on;
  if (handoff?.state !== "person" || handoff.person?.id !== personId || handoff.owedSinceMs === null) return null;
  const waitMs = settingsOf(by).waitSeconds * 1000;
  if (handoff.owedSinceMs + waitMs > by.nowMs) return null;
  const untilMs = by.nowMs + waitMs;
  return {
    fields: {
      ...leaveFields(on, "waiting", by),
      ...{ reason: "asked", status: "open", person: null, wasPresent: false, untilMs, ...noticeFields(on, by) },
    },
    events: [lineOf(by, "asked")],
    audit: auditOf(by, "ask"),
    webhookEvents: [requestedEvent(on, by, untilMs)],
  };
}

/** Back to the companion, with nothing about the status. */
export function comeBack(
  on: DecidedOn,
  by: Deciding,
  reason: "released" | "visitor" | "idle" | "closed",
): HandoffChange {
  return {
    fields: { ...returnFields(reason, by.nowMs), ...noNotice },
    events: [lineOf(by, reason === "closed" ? "closed" : "released")],
    audit: auditOf(by, "release", { reason }),
    webhookEvents: [releasedEvent(on, by, reason)],
  };
}
