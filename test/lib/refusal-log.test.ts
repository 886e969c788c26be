/** A flood of refusals in the log: its first lines, then its size; never a line for each. */
import { expect, test } from "bun:test";
import type { RequestFields } from "../../src/lib/log.ts";
import { createRefusalLog } from "../../src/lib/refusal-log.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const summary = "refused requests that have no line of their own";

function refusal(fields: Partial<RequestFields> = {}): RequestFields {
  const line = { requestId: crypto.randomUUID(), method: "GET", route: "unmatched", status: 404, durationMs: 1 };
  return { ...line, client: "192.0.2.0/24", ...fields };
}

test("logs ten of a kind one by one, and then how many more there were", () => {
  const log = createCapturedLog();
  const refusals = createRefusalLog(log);
  for (let at = 0; at < 1000; at++) refusals.note(refusal());
  for (let at = 0; at < 10; at++) refusals.note(refusal({ status: 401, route: "/api/companions" }));
  for (let at = 0; at < 11; at++) refusals.note(refusal({ client: "198.51.100.0/24" }));
  expect(log.events.map(({ event }) => event)).toEqual(Array(30).fill("request"));
  refusals.flush();
  expect(log.events.slice(30)).toEqual([
    { level: "info", event: summary, fields: { status: 404, route: "unmatched", client: "192.0.2.0/24", count: 990 } },
    { level: "info", event: summary, fields: { status: 404, route: "unmatched", client: "198.51.100.0/24", count: 1 } },
  ]);
  refusals.flush();
  expect(log.events).toHaveLength(32);
  refusals.note(refusal());
  expect(log.events.at(-1)?.event).toBe("request");
});

test("knows a bounded number of kinds, and counts what comes from everywhere else", () => {
  const log = createCapturedLog();
  const refusals = createRefusalLog(log);
  for (let at = 0; at < 10_000; at++) {
    for (let again = 0; again < 12; again++) refusals.note(refusal({ client: `10.${at >> 8}.${at & 255}.0/24` }));
  }
  expect(log.events).toHaveLength(256 * 10);
  refusals.flush();
  expect(log.events).toHaveLength(256 * 10 + 257);
  expect(log.events.at(-1)?.fields).toEqual({ from: "everywhere else", count: (10_000 - 256) * 12 });
});
