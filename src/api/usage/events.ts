/** `GET /api/usage/events`: usage as lines that a platform's meter takes, read from the store as they are sent. */
import { Type as t } from "@sinclair/typebox";
import type { UsageEvent, UsageEventPosition, UsageEventQuery, UsageEventSlice } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { firstOpenDay } from "../../domain/usage.ts";
import { linesResponse } from "../../http/api-description.ts";
import { type QueryPart, valueQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { addHeaders } from "../../http/stream-response.ts";
import { toRfc3339, toUtcDay } from "../../lib/clock.ts";
import { isUuid } from "../../lib/ids.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import { pause } from "../../lib/pause.ts";
import { type Days, daysQuery, parseList } from "./query.ts";
import { toWireCounts, UsageEventObject } from "./responses.ts";

/** Where an export continues. */
interface EventCursor {
  position: UsageEventPosition;
  /**
   * The first day that was not over when its line was sent; null if its own day was. Once that day is over, the export
   * goes on at its beginning: the lines have changed since.
   */
  openDay: string | null;
}

interface EventDays extends Days {
  cursor: EventCursor | null;
}

/** Days and cursor: without `from`, the days begin with the cursor's. */
const eventDaysQuery: QueryPart<EventDays> = {
  parameters: {
    ...daysQuery.parameters,
    cursor: () => t.String({ description: "`cursor` of the last line that was received." }),
  },
  read(query, nowMs) {
    const cursor = query.value("cursor", decodeEventCursor, "This is not a cursor of a line: use it unchanged.");
    const days = daysQuery.read(query, nowMs);
    if (cursor === null || query.text("from") !== null) return { ...days, cursor };
    return { ...days, fromDay: cursor.openDay ?? cursor.position.day, cursor };
  },
};

/** Whether lines of days that are not over are wanted too. */
const includeQuery = valueQuery(
  "include",
  () => t.Literal("today", { description: "Also lines of what is not over yet, with `final` false." }),
  (text) => (text === "today" ? true : undefined),
  "Must be today, or left out.",
);

/** What to read from the store. */
function planEvents({ fromDay, toDay, cursor }: EventDays, openDay: string, includesOpen: boolean): UsageEventQuery {
  const lastOver = toUtcDay(Date.parse(openDay) - dayMs);
  const days = { fromDay, toDay: includesOpen || toDay < openDay ? toDay : lastOver };
  if (cursor === null) return { ...days, after: null };
  const { position, openDay: wasOpen } = cursor;
  const isStale = wasOpen !== null && wasOpen < openDay;
  return { ...days, after: isStale ? { day: wasOpen, companionId: "", identifier: "" } : position };
}

function encodeEventCursor({ position, openDay }: EventCursor): string {
  const parts = [position.day, position.companionId, position.identifier, openDay];
  return Buffer.from(JSON.stringify(parts), "utf8").toString("base64url");
}

function decodeEventCursor(text: string): EventCursor | undefined {
  const [day, companionId, identifier, openDay] = parseList(text);
  if (typeof day !== "string" || typeof companionId !== "string" || typeof identifier !== "string") return undefined;
  const wasOpen = typeof openDay === "string" ? openDay : null;
  const days = wasOpen === null ? [day] : [day, wasOpen];
  if (!days.every((each) => parseDay(each) !== null)) return undefined;
  if (!isUuid(companionId) || !/^[0-9a-f]{64}$/.test(identifier)) return undefined;
  const cursor = { position: { day, companionId, identifier }, openDay: wasOpen };
  return encodeEventCursor(cursor) === text ? cursor : undefined;
}

export const usageEventsRoute: Route = route({
  id: "exportUsageEvents",
  method: "GET",
  path: "/api/usage/events",
  tag: "Usage",
  summary: "Export usage for billing",
  access: "usage:read",
  query: { days: eventDaysQuery, includesOpen: includeQuery },
  document: () => ({
    description:
      "One JSON object a line: a companion, model, provider, UTC day and recorded metadata. Lines come by day, and once " +
      "sent with `final` true they never change; those of a day appear a quarter of an hour after its end. Send " +
      "`identifier` along to your billing, so that a line sent twice counts once, and keep the last `cursor`: with it, " +
      "the next call continues. Lines with `final` false are for looking at, not for billing.",
    responses: {
      200: linesResponse("The lines.", UsageEventObject),
    },
  }),
  async handle({ services, principal, set, query: { days, includesOpen } }) {
    const openDay = firstOpenDay(services.clock.nowMs());
    const query = planEvents(days, openDay, includesOpen ?? false);
    const lines = new EventLines(services, principal.account.id, query, openDay);
    // Before the response begins: this may fail, and then says so with its status.
    await lines.readAhead();
    const response = new Response(lines.open(), {
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
    });
    return addHeaders(response, set);
  },
});

/** With up to 16 KiB of metadata each. */
const eventsPerPiece = 32;

/** Reads no faster than the client does: a few lines ahead. */
class EventLines {
  readonly #services: Pick<Services, "store" | "log">;
  readonly #accountId: string;
  readonly #query: UsageEventQuery;
  readonly #openDay: string;
  readonly #encoder = new TextEncoder();
  #ahead: UsageEventSlice | null = null;
  #isLeft = false;

  constructor(services: Pick<Services, "store" | "log">, accountId: string, query: UsageEventQuery, openDay: string) {
    this.#services = services;
    this.#accountId = accountId;
    this.#query = query;
    this.#openDay = openDay;
  }

  /** Up to the first lines, or the end. */
  async readAhead(): Promise<void> {
    for (let after = this.#query.after; !this.#isLeft; ) {
      const slice = await this.#services.store.usage.listEvents(this.#accountId, { ...this.#query, after });
      this.#ahead = slice;
      if (slice.events.length > 0 || slice.next === null) return;
      after = slice.next;
    }
  }

  open(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: (controller) => this.#pull(controller),
      cancel: () => {
        this.#isLeft = true;
      },
    });
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const slice = this.#ahead;
      if (slice === null || this.#isLeft) return;
      if (slice.events.length > 0) {
        controller.enqueue(this.#encode(slice.events.splice(0, eventsPerPiece)));
        // The rest when the client takes it, and others have had their turn.
        await pause();
        if (slice.events.length > 0) return;
      }
      if (slice.next === null) {
        controller.close();
        return;
      }
      this.#query.after = slice.next;
      await this.readAhead();
      if (this.#ahead?.events.length === 0 && !this.#isLeft) controller.close();
    } catch (error) {
      // The lines that were sent are good: the client continues with the last cursor.
      this.#services.log.warn("usage export broke off", { accountId: this.#accountId, error });
      if (!this.#isLeft) controller.error(error);
    }
  }

  #encode(events: readonly UsageEvent[]): Uint8Array {
    return this.#encoder.encode(events.map((event) => `${this.#toLine(event)}\n`).join(""));
  }

  #toLine(event: UsageEvent): string {
    const { identifier, day, companionId, model, provider, metadata, ...counts } = event;
    const final = day < this.#openDay;
    const position = { day, companionId, identifier };
    const line = {
      identifier,
      timestamp: toRfc3339(Date.parse(day)),
      companion_id: companionId,
      model,
      provider,
      ...toWireCounts(counts),
    };
    const end = { final, cursor: encodeEventCursor({ position, openDay: final ? null : this.#openDay }) };
    // Metadata is JSON already: to parse and write it again would take most of the time.
    return `${JSON.stringify(line).slice(0, -1)},"metadata":${metadata},${JSON.stringify(end).slice(1)}`;
  }
}
