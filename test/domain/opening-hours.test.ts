import { describe, expect, test } from "bun:test";
import type { OpeningHours } from "../../src/domain/handoff.ts";
import { findNextOpening, isOpen } from "../../src/domain/opening-hours.ts";

const at = (text: string) => Date.parse(text);
const hours = (week: OpeningHours["week"], fields: Partial<OpeningHours> = {}): OpeningHours => ({
  timezone: "Europe/Berlin",
  week,
  closed: [],
  ...fields,
});
const opens = (given: OpeningHours, after: string) => {
  const atMs = findNextOpening(given, at(after));
  return atMs === null ? null : new Date(atMs).toISOString();
};
const office = hours({
  mon: [
    ["09:00", "12:00"],
    ["13:00", "17:30"],
  ],
  fri: [["09:00", "17:00"]],
});

describe("on a usual day", () => {
  test.each([
    ["2026-01-12T07:59:59.999Z", false],
    ["2026-01-12T08:00:00Z", true],
    ["2026-01-12T10:59:59.999Z", true],
    ["2026-01-12T11:00:00Z", false],
    ["2026-01-12T12:00:00Z", true],
    ["2026-01-12T16:30:00Z", false],
    ["2026-01-13T09:00:00Z", false],
  ])("at %s it is open: %p", (instant, expected) => {
    expect(isOpen(office, at(instant))).toBe(expected);
  });

  test("it opens next after the lunch break, on the next day that has hours, or is open now", () => {
    expect(opens(office, "2026-01-12T11:30:00Z")).toBe("2026-01-12T12:00:00.000Z");
    expect(opens(office, "2026-01-12T16:30:00Z")).toBe("2026-01-16T08:00:00.000Z");
    expect(opens(office, "2026-01-12T08:30:00.001Z")).toBe("2026-01-12T08:30:00.001Z");
  });

  test("without hours it is always open", () => {
    expect(isOpen(null, 0)).toBe(true);
    expect(findNextOpening(null, 7)).toBe(7);
  });

  test("24:00 ends a day, and goes on with the next one's 00:00", () => {
    const night = hours({ mon: [["22:00", "24:00"]], tue: [["00:00", "02:00"]] });
    expect(isOpen(night, at("2026-01-12T22:59:59.999Z"))).toBe(true);
    expect(isOpen(night, at("2026-01-12T23:00:00Z"))).toBe(true);
    expect(isOpen(hours({ mon: [["22:00", "24:00"]] }), at("2026-01-12T23:00:00Z"))).toBe(false);
  });

  test("a closed day is one on the wall clock, not in UTC", () => {
    const auckland = hours({ fri: [["00:00", "24:00"]] }, { timezone: "Pacific/Auckland", closed: ["2026-12-25"] });
    expect(isOpen(auckland, at("2026-12-24T12:00:00Z"))).toBe(false);
    expect(isOpen(auckland, at("2026-12-17T12:00:00Z"))).toBe(true);
    expect(opens(auckland, "2026-12-24T12:00:00Z")).toBe("2026-12-31T11:00:00.000Z");
  });
});

describe("where the clock is put forward", () => {
  // Europe/Berlin, 29 March 2026, a Sunday: 02:00 becomes 03:00 at 01:00 UTC.
  test("hours of the same wall clock begin an hour earlier in UTC", () => {
    const daily = hours({ sat: [["09:00", "10:00"]], sun: [["09:00", "10:00"]] });
    expect(opens(daily, "2026-03-28T07:00:00Z")).toBe("2026-03-28T08:00:00.000Z");
    expect(opens(daily, "2026-03-28T09:00:00Z")).toBe("2026-03-29T07:00:00.000Z");
  });

  test("a span that begins in the hour that is missing begins at the change", () => {
    expect(opens(hours({ sun: [["02:30", "04:00"]] }), "2026-03-29T00:30:00Z")).toBe("2026-03-29T01:00:00.000Z");
  });

  test("a span within the missing hour does not happen", () => {
    expect(opens(hours({ sun: [["02:10", "02:50"]] }), "2026-03-29T00:30:00Z")).toBe("2026-04-05T00:10:00.000Z");
  });
});

describe("where the clock is put back", () => {
  // Europe/Berlin, 25 October 2026, a Sunday: 03:00 becomes 02:00 at 01:00 UTC.
  test("an hour that comes twice is open twice", () => {
    const twice = hours({ sun: [["02:00", "02:30"]] });
    expect(opens(twice, "2026-10-24T23:00:00Z")).toBe("2026-10-25T00:00:00.000Z");
    expect(isOpen(twice, at("2026-10-25T00:45:00Z"))).toBe(false);
    expect(opens(twice, "2026-10-25T00:45:00Z")).toBe("2026-10-25T01:00:00.000Z");
    expect(opens(twice, "2026-10-25T01:30:00Z")).toBe("2026-11-01T01:00:00.000Z");
  });

  test("a span that began before it and ends in the hour that comes again opens again at the change", () => {
    const early = hours({ sun: [["01:00", "02:10"]] });
    expect(isOpen(early, at("2026-10-25T00:30:00Z"))).toBe(false);
    expect(opens(early, "2026-10-25T00:30:00Z")).toBe("2026-10-25T01:00:00.000Z");
  });

  test("in other zones, too: half an hour in Lord Howe, the other half of the year in New York", () => {
    const howe = hours({ sun: [["02:00", "03:00"]] }, { timezone: "Australia/Lord_Howe" });
    // 4 October 2026: 02:00 becomes 02:30 at 15:30 UTC of the day before.
    expect(opens(howe, "2026-10-03T15:00:00Z")).toBe("2026-10-03T15:30:00.000Z");
    const york = hours({ sun: [["01:30", "01:45"]] }, { timezone: "America/New_York" });
    // 1 November 2026: 02:00 becomes 01:00 at 06:00 UTC.
    expect(opens(york, "2026-11-01T05:50:00Z")).toBe("2026-11-01T06:30:00.000Z");
  });
});

describe("where it never opens again", () => {
  test("an empty week has no next opening", () => {
    expect(opens(hours({}), "2026-01-12T00:00:00Z")).toBeNull();
    expect(opens(hours({ mon: [] }), "2026-01-12T00:00:00Z")).toBeNull();
  });

  test("a hundred closed Mondays in a row are more than a year", () => {
    const closed = Array.from({ length: 100 }, (_, week) =>
      new Date(at("2026-01-05") + week * 7 * 86_400_000).toISOString().slice(0, 10),
    );
    expect(opens(hours({ mon: [["09:00", "10:00"]] }, { closed }), "2026-01-01T00:00:00Z")).toBeNull();
    expect(opens(hours({ mon: [["09:00", "10:00"]] }, { closed: closed.slice(0, 9) }), "2026-01-01T00:00:00Z")).toBe(
      "2026-03-09T08:00:00.000Z",
    );
  });
});

test("minute by minute about both changes, the next opening is the first open minute", () => {
  const odd = hours({
    sat: [["23:15", "24:00"]],
    sun: [
      ["00:00", "00:20"],
      ["01:50", "02:20"],
      ["02:40", "03:10"],
    ],
  });
  for (const day of ["2026-03-29", "2026-10-25"]) {
    const startMs = at(`${day}T00:00:00Z`) - 3 * 3_600_000;
    const opened = Array.from({ length: 8 * 60 }, (_, minute) => isOpen(odd, startMs + minute * 60_000));
    for (let minute = 0; minute < opened.length; minute++) {
      const next = opened.indexOf(true, minute);
      if (next === -1) break;
      expect(findNextOpening(odd, startMs + minute * 60_000)).toBe(startMs + next * 60_000);
    }
  }
});
