/** What becomes of a conversation when someone on the team takes it, releases it, or works on it. Pure. */
import type { DecidedOn, HandoffChange } from "../../contracts/store/handoffs.ts";
import { type ConversationStatus, type Handoff, isOutside, type Person, stateConflict } from "../../domain/handoff.ts";
import { comeBack, missAsk } from "./asking.ts";
import {
  auditOf,
  type Deciding,
  eventOf,
  type Fields,
  idleUntil,
  leaveFields,
  lineOf,
  noNotice,
  releasedEvent,
  toEventPerson,
} from "./change.ts";

export interface Take {
  readonly person: Person;
  /** The id of the holder whose conversation is taken over; null for none. */
  readonly from: string | null;
  /** Whether they are there, as the team's presence goes. */
  readonly isPresent: boolean;
}

/** How often it is tried whether the reply that a reservation waits for has ended; `noteTurn` is there first, as a rule. */
const reservedMs = 15_000;

/** Theirs already changes nothing. Throws `conflict`. */
export function decideTake(on: DecidedOn, by: Deciding, take: Take): HandoffChange | null {
  const { handoff } = on;
  if (isHeldBy(handoff, take.person)) return null;
  requireFree(on, by, take);
  return hand(on, by, take);
}

/** It is theirs when the reply under way has ended. Theirs already, or reserved for them, changes nothing. Throws `conflict`. */
export function decideReserve(on: DecidedOn, by: Deciding, take: Take): HandoffChange | null {
  const { handoff } = on;
  if (isHeldBy(handoff, take.person) || isReservedFor(handoff, take.person)) return null;
  requireFree(on, by, take);
  // From a colleague it is taken immediately: no reply can be under way.
  if (handoff?.state === "person") return hand(on, by, take);
  return {
    fields: {
      ...{ reserved: take.person, untilMs: by.nowMs + reservedMs },
      ...(handoff === null && { plainSeq: on.newestSeq }),
    },
    audit: auditOf(by, "reserve"),
  };
}

/** The reply that a reservation waited for has ended. */
export function decideFinish(on: DecidedOn, by: Deciding, isPresent: boolean): HandoffChange | null {
  const person = on.handoff?.reserved ?? null;
  if (person === null) return null;
  // Nothing is handed over any more.
  if (by.companion.handoff === null) return { fields: { reserved: null, untilMs: null } };
  return hand(on, { ...by, actor: { type: "person", person } }, { person, from: null, isPresent });
}

/** It has not: it is tried again. */
export function decideWaitOn({ handoff }: DecidedOn, by: Deciding): HandoffChange | null {
  if (handoff === null || handoff.reserved === null || (handoff.untilMs ?? 0) > by.nowMs) return null;
  return { fields: { untilMs: by.nowMs + reservedMs } };
}

function requireFree({ handoff }: DecidedOn, { companion }: Deciding, { person, from }: Take): void {
  const holder = handoff?.person ?? handoff?.reserved ?? null;
  if (holder !== null && holder.id !== person.id) {
    if (holder.id === from) return;
    throw stateConflict("A colleague has this conversation.", { state: handoff?.state ?? "companion", person: holder });
  }
  if (companion.handoff === null) throw stateConflict("This companion hands no conversations to people.", handoff);
  const isAllowed = companion.handoff.mode === "any" || handoff?.isAsked || isOutside(handoff) || holder !== null;
  if (!isAllowed) throw stateConflict("No one has asked for a person in this conversation.", handoff);
}

function hand(on: DecidedOn, by: Deciding, { person, isPresent }: Take): HandoffChange {
  const before = on.handoff?.person ?? null;
  const untilMs = idleUntil(by);
  const taken = { person: toEventPerson(person), from: toEventPerson(before) };
  return {
    fields: {
      ...leaveFields(on, "person", by),
      ...{ reason: "taken", person, reserved: null, untilMs, wasPresent: isPresent, ...noNotice },
    },
    events: [lineOf(by, "taken")],
    audit: auditOf(by, "take", before === null ? {} : { fromId: before.id }),
    webhookEvents: [eventOf(on, by, "handoff.taken", { ...taken, until: new Date(untilMs).toISOString() })],
  };
}

const isHeldBy = (handoff: Handoff | null, { id }: Person) => handoff?.state === "person" && handoff.person?.id === id;
const isReservedFor = (handoff: Handoff | null, { id }: Person) => handoff?.reserved?.id === id;

/**
 * Stores that the reply under way at the take, or that asked for a person, was kept before anything else was written: people
 * and visitors read on behind it. `change`: of the take or ask; what happened since may have added messages.
 */
export function decideReach({ handoff, newestSeq }: DecidedOn, by: Deciding, of: { change: number; isCut: boolean }) {
  if (handoff === null || handoff.change !== of.change || handoff.reachSeq >= newestSeq) return null;
  // Not beyond what people wrote before they left the last time.
  const fields = handoff.returnedAtMs === null ? { reachSeq: newestSeq } : null;
  if (fields === null && !of.isCut) return null;
  return { ...(fields !== null && { fields }), ...(of.isCut && { events: [lineOf(by, "stopped")] }) };
}

export interface Release {
  readonly person: Person;
  readonly close: boolean;
  readonly from: string | null;
}

/** In `waiting` it declines the ask. Throws `conflict`. */
export function decideRelease(on: DecidedOn, by: Deciding, { person, close, from }: Release): HandoffChange | null {
  const { handoff } = on;
  if (handoff === null) return null;
  const holder = handoff.person ?? handoff.reserved;
  if (holder !== null && holder.id !== person.id && holder.id !== from) {
    throw stateConflict("A colleague has this conversation.", { state: handoff.state, person: holder });
  }
  if (handoff.state === "waiting") {
    const missed = missAsk(on, by);
    return close ? closing(on, by, missed) : missed;
  }
  if (close) return decideUpdate(on, by, { status: "closed" });
  if (handoff.state === "person") return comeBack(on, by, "released");
  return handoff.reserved && { fields: { reserved: null, untilMs: null }, audit: auditOf(by, "release") };
}

export interface Update {
  readonly status?: ConversationStatus | null;
  readonly assigneeId?: string | null;
  /** As `foldTags` returns them. */
  readonly tags?: readonly string[];
}

/** A conversation that is closed comes back to the companion. What is so already changes nothing. */
export function decideUpdate(on: DecidedOn, by: Deciding, update: Update): HandoffChange | null {
  const { handoff } = on;
  const isClosing = update.status === "closed" && handoff?.status !== "closed";
  const isAssigned = update.assigneeId !== undefined && update.assigneeId !== (handoff?.assigneeId ?? null);
  const isTagged = update.tags !== undefined && update.tags.join("\n") !== (handoff?.tags ?? []).join("\n");
  const isStatus = update.status !== undefined && update.status !== (handoff?.status ?? null);
  const isHeld = handoff !== null && (handoff.state !== "companion" || handoff.reserved !== null);
  const isOver = update.status === "closed" && isHeld;
  if (!isStatus && !isAssigned && !isTagged && !isOver) return null;
  const fields: Fields = {
    ...(isStatus && { status: update.status ?? null }),
    ...(isAssigned && { assigneeId: update.assigneeId ?? null }),
    ...(isTagged && { tags: update.tags ?? [] }),
    ...(handoff === null && { plainSeq: on.newestSeq }),
  };
  const changed = [isStatus && "status", isAssigned && "assignee", isTagged && "tags"].filter((one) => one !== false);
  const change: HandoffChange = {
    fields,
    events: [...(isAssigned ? [lineOf(by, "assigned")] : []), ...(isTagged ? [lineOf(by, "tagged")] : [])],
    audit: auditOf(by, isClosing || isOver ? "close" : "update", { changed: changed.join(", ") }),
    webhookEvents: [updatedEvent(on, by, fields)],
  };
  return isClosing || isOver ? closing(on, by, change) : change;
}

/** Adds what ends with a conversation that is closed. */
function closing(on: DecidedOn, by: Deciding, change: HandoffChange): HandoffChange {
  const isReturning = change.fields?.state === "companion";
  const back = isOutside(on.handoff) && !isReturning ? comeBack(on, by, "closed") : null;
  const fields: Fields = { ...change.fields, ...back?.fields, status: "closed", reserved: null, untilMs: null };
  return {
    ...change,
    fields,
    events: [...(change.events ?? []), lineOf(by, "closed")],
    webhookEvents: [
      ...(back === null ? [] : [releasedEvent(on, by, "closed")]),
      ...(change.webhookEvents ?? []).filter(({ type }) => type !== "conversation.updated"),
      updatedEvent(on, by, fields),
    ],
  };
}

function updatedEvent({ handoff, ...on }: DecidedOn, by: Deciding, fields: Fields) {
  const { status, assigneeId, tags } = { status: null, assigneeId: null, tags: [], ...handoff, ...fields };
  const data = { status: status ?? null, assignee: assigneeId ?? null, tags: [...(tags ?? [])] };
  return eventOf(on, by, "conversation.updated", data);
}
