/** Which deadline holds while a model thinks. */
import { expect, test } from "bun:test";
import { type ReplyDeadlines, replyDeadlines } from "../../src/contracts/llm/attempt.ts";
import { ReplyWatch } from "../../src/engines/openai/reply-watch.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Stop } from "../../src/lib/stop-signal.ts";

async function expiryOf(deadlines: Partial<ReplyDeadlines>, note: (watch: ReplyWatch) => void) {
  const watch = new ReplyWatch({ ...replyDeadlines, ...deadlines }, new AbortController().signal);
  const over = new Promise<void>((resolve) => {
    watch.step = { stop: resolve };
  });
  note(watch);
  await over;
  return watch.expired?.message;
}

test("thinking in silence is waited for, longer than for a first text and than between two reads", async () => {
  const deadlines = { firstTextMs: 20, silenceMs: 1, reasoningMs: 40 };
  expect(await expiryOf(deadlines, (watch) => watch.noteReasoning())).toBe("no text after 40 ms");
  expect(await expiryOf(deadlines, () => {})).toBe("no text after 20 ms");
});

test("once text flows, silence is what it was, whatever was thought before or after", async () => {
  const think = (watch: ReplyWatch) => {
    watch.noteReasoning();
    watch.noteText();
    watch.noteReasoning();
  };
  expect(await expiryOf({ silenceMs: 10 }, think)).toBe("silent for 10 ms");
});

test("a reply sets one timer: text in time moves its deadline without another, and only an end brings it nearer", () => {
  const waits: number[] = [];
  const after = (ms: number) => {
    waits.push(Math.round(ms / 1000));
    return { [Symbol.dispose]() {} };
  };
  const watch = new ReplyWatch(replyDeadlines, new Stop(), { clock: systemClock, after });
  for (let read = 0; read < 100; read++) {
    watch.noteRead();
    watch.noteText();
  }
  expect(waits).toEqual([60]);
  watch.noteFinish();
  expect(waits).toEqual([60, 5]);
});

test("they are five minutes and one", () => {
  expect(replyDeadlines).toMatchObject({ firstTextMs: 60_000, reasoningMs: 300_000, silenceMs: 60_000 });
});
