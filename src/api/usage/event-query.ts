/** The query of the meter export: days, and where to go on. */
import { Type as t } from "@sinclair/typebox";
import type { UsageEventPlace, UsageEventQuery } from "../../contracts/store/store.ts";
import { type QueryPart, valueQuery } from "../../http/query.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { isUuid } from "../../lib/ids.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import { parseList } from "./paging.ts";
import { type Days, daysQuery } from "./query.ts";

/** Where an export continues. */
export interface EventCursor {
  place: UsageEventPlace;
  /**
   * The first day that was not over when its line was sent; null if its own day was. Once that day is over, the export
   * goes on at its beginning: the lines have changed since.
   */
  openDay: string | null;
}

export interface EventDays extends Days {
  cursor: EventCursor | null;
}

/** Days and cursor: without `from`, the days begin with the cursor's. */
export const eventDaysQuery: QueryPart<EventDays> = {
  parameters: {
    ...daysQuery.parameters,
    cursor: () => t.String({ description: "`cursor` of the last line that was received." }),
  },
  read(query, nowMs) {
    const cursor = query.value("cursor", decodeEventCursor, "This is not a cursor of a line: use it unchanged.");
    const days = daysQuery.read(query, nowMs);
    if (cursor === null || query.text("from") !== null) return { ...days, cursor };
    return { ...days, fromDay: cursor.openDay ?? cursor.place.day, cursor };
  },
};

/** Whether lines of days that are not over are wanted too. */
export const includeQuery = valueQuery(
  "include",
  () => t.Literal("today", { description: "Also lines of what is not over yet, with `final` false." }),
  (text) => (text === "today" ? true : undefined),
  "Must be today, or left out.",
);

/** What to read from the store. */
export function planEvents(
  { fromDay, toDay, cursor }: EventDays,
  openDay: string,
  includesOpen: boolean,
): UsageEventQuery {
  const lastOver = toUtcDay(Date.parse(openDay) - dayMs);
  const days = { fromDay, toDay: includesOpen || toDay < openDay ? toDay : lastOver };
  if (cursor === null) return { ...days, after: null };
  const { place, openDay: wasOpen } = cursor;
  const isStale = wasOpen !== null && wasOpen < openDay;
  return { ...days, after: isStale ? { day: wasOpen, companionId: "", identifier: "" } : place };
}

export function encodeEventCursor({ place, openDay }: EventCursor): string {
  const parts = [place.day, place.companionId, place.identifier, openDay];
  return Buffer.from(JSON.stringify(parts), "utf8").toString("base64url");
}

function decodeEventCursor(text: string): EventCursor | undefined {
  const [day, companionId, identifier, openDay] = parseList(text);
  if (typeof day !== "string" || typeof companionId !== "string" || typeof identifier !== "string") return undefined;
  const wasOpen = typeof openDay === "string" ? openDay : null;
  const days = wasOpen === null ? [day] : [day, wasOpen];
  if (!days.every((each) => parseDay(each) !== null)) return undefined;
  if (!isUuid(companionId) || !/^[0-9a-f]{64}$/.test(identifier)) return undefined;
  const cursor = { place: { day, companionId, identifier }, openDay: wasOpen };
  return encodeEventCursor(cursor) === text ? cursor : undefined;
}
