/** Days and instants as callers write them. */
import { expect, test } from "bun:test";
import { parseDay, parseInstant } from "../../src/lib/instant.ts";

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["9999-12-31", "9999-12-31T00:00:00.000Z"],
])("%s is a day", (text, expected) => {
  expect(new Date(parseDay(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  "2026-02-29",
  "2026-00-01",
  "2026-13-01",
  "2026-1-1",
  "20260101",
  "2026-01-01 ",
  "+002026-01-01",
  "",
  "0000-01-01",
])("%p is not a day", (text) => {
  expect(parseDay(text)).toBeNull();
});

test.each([
  ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"],
  ["2026-01-31t09:30:00.5z", "2026-01-31T09:30:00.500Z"],
  ["2026-01-31T09:30:00.123456789Z", "2026-01-31T09:30:00.123Z"],
  ["2026-01-31T00:30:00+01:30", "2026-01-30T23:00:00.000Z"],
  ["2026-01-31T23:30:00-01:00", "2026-02-01T00:30:00.000Z"],
  ["2026-01-31T00:30:00 01:00", "2026-01-30T23:30:00.000Z"],
])("%s is an instant", (text, expected) => {
  expect(new Date(parseInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  "2026-01-31T24:00:00Z",
  "2026-01-31T09:60:00Z",
  "2026-01-31T09:30:61Z",
  "2026-02-30T09:30:00Z",
  "2026-01-31T09:30Z",
  "2026-01-31T09:30:00",
  "2026-01-31",
  "now",
])("%p is not an instant", (text) => {
  expect(parseInstant(text)).toBeNull();
});
