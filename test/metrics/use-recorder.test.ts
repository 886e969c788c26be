import { expect, test } from "bun:test";
import type { KeyUse } from "../../src/contracts/store/store.ts";
import { createUseRecorder } from "../../src/core/metrics/use-recorder.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";

function createParts() {
  const clock = createManualClock(Date.UTC(2026, 0, 15, 23, 59, 59));
  const written: unknown[] = [];
  const state = { isBroken: false };
  const write = async (entry: unknown) => {
    if (state.isBroken) throw new Error("disk full");
    written.push(entry);
  };
  const store = {
    apiKeys: { recordUses: (uses: readonly KeyUse[], day: string) => write({ day, uses: structuredClone(uses) }) },
    companions: { recordSeen: (seen: unknown) => write(seen) },
    embedTokens: { recordUses: (uses: unknown) => write(uses) },
    sessions: { recordUses: (uses: unknown) => write(uses) },
  };
  const log = createCapturedLog();
  // Only the recorder's own writes are needed of the store.
  const recorder = createUseRecorder({ store: store as never, clock, log }, 5);
  return { clock, written, state, log, recorder };
}

test("many calls of a key become one write", async () => {
  const { recorder, written, clock } = createParts();
  for (let call = 0; call < 1000; call++) recorder.noteKey("key-a");
  recorder.noteKey("key-b");
  await recorder.flush();
  const lastUsedAt = clock.nowMs();
  expect(written).toEqual([
    {
      day: "2026-01-15",
      uses: [
        { keyId: "key-a", requests: 1000, lastUsedAt },
        { keyId: "key-b", requests: 1, lastUsedAt },
      ],
    },
  ]);
});

test("notes a website once a day for each token, and nothing that no browser sends, however much of it", async () => {
  const { recorder, written, clock, state } = createParts();
  const see = (origin: string, token = "t1") => recorder.noteSeen(token, "c1", origin);
  const note = (origin: string) => ({ companionId: "c1", origin, seenAt: clock.nowMs() });
  for (const none of [
    "null",
    "https://*.a.example",
    "https://a.example/",
    "HTTPS://A.EXAMPLE",
    "file://",
    "x".repeat(9999),
  ])
    see(none);
  state.isBroken = true;
  for (let view = 0; view < 3; view++) see("https://a.example");
  await recorder.flush();
  state.isBroken = false;
  await recorder.flush();
  see("https://a.example");
  see("https://a.example", "t2");
  await recorder.flush();
  expect(written).toEqual([[note("https://a.example")], [note("https://a.example")]]);
  written.length = 0;
  for (let made = 0; made < 1000; made++) see(`https://${made}.example`);
  await recorder.flush();
  expect((written[0] as unknown[]).length).toBe(99);
  clock.advance(2000);
  see("https://a.example");
  await recorder.flush();
  expect(written[1]).toEqual([note("https://a.example")]);
});

test("writes by itself, and nothing when nothing was noted", async () => {
  const { recorder, written } = createParts();
  recorder.noteToken("token-a");
  await eventually(() => written.length > 0);
  await recorder.flush();
  await recorder.close();
  expect(written).toHaveLength(1);
});

test("counts calls under the UTC day in which they were made", async () => {
  const { recorder, written, clock } = createParts();
  recorder.noteKey("key-a");
  clock.advance(2000);
  recorder.noteKey("key-a");
  recorder.noteKey("key-a");
  await recorder.flush();
  expect(written).toMatchObject([
    { day: "2026-01-15", uses: [{ requests: 1 }] },
    { day: "2026-01-16", uses: [{ requests: 2 }] },
  ]);
});

test("keeps what the store could not take, and adds to it", async () => {
  const { recorder, written, state, log, clock } = createParts();
  recorder.noteKey("key-a");
  recorder.noteToken("token-a");
  recorder.noteSession("session-a");
  state.isBroken = true;
  await recorder.flush();
  expect(written).toEqual([]);
  expect(log.events.map((event) => event.event)).toContain("last uses not written");
  clock.advance(10);
  recorder.noteKey("key-a");
  state.isBroken = false;
  await recorder.close();
  const earlier = clock.nowMs() - 10;
  expect(written).toEqual([
    { day: "2026-01-15", uses: [{ keyId: "key-a", requests: 2, lastUsedAt: clock.nowMs() }] },
    [{ tokenId: "token-a", lastUsedAt: earlier }],
    [{ sessionId: "session-a", lastUsedAt: earlier }],
  ]);
});
