/** When idle streams are pinged. */
import { expect, test } from "bun:test";
import { createHeartbeatTicker } from "../../src/http/heartbeats.ts";

function world() {
  let nowMs = 0;
  let tick: (() => void) | null = null;
  const heartbeats = createHeartbeatTicker(
    () => nowMs,
    (given) => {
      tick = given;
      return () => {
        tick = null;
      };
    },
  );
  const pings: string[] = [];
  let asked = 0;
  function open(name: string) {
    const stream = {
      writtenMs: nowMs,
      isStalled: false,
      pingIfQuietSince(sinceMs: number): number {
        asked++;
        if (!stream.isStalled && stream.writtenMs <= sinceMs) {
          pings.push(`${name} ${nowMs / 1000}`);
          stream.writtenMs = nowMs;
        }
        return stream.writtenMs;
      },
      interrupt: () => void pings.push(`${name} interrupted`),
    };
    heartbeats.add(stream);
    return stream;
  }
  return {
    ...{ heartbeats, pings, open, countAsked: () => asked, isTicking: () => tick !== null },
    pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        nowMs += 1_000;
        tick?.();
      }
    },
  };
}

test("pings each stream after ten seconds of silence, and again after ten more, and asks no other", () => {
  const { open, pass, pings, countAsked } = world();
  open("first");
  pass(3);
  open("second");
  pass(20);
  expect(pings).toEqual(["first 10", "second 13", "first 20", "second 23"]);
  expect(countAsked()).toBe(4);
});

test("counts the silence from the last write", () => {
  const { open, pass, pings } = world();
  const stream = open("busy");
  pass(7);
  stream.writtenMs = 7_000;
  pass(9);
  expect(pings).toEqual([]);
  pass(1);
  expect(pings).toEqual(["busy 17"]);
});

test("asks a stalled stream again each second until it accepts more", () => {
  const { open, pass, pings } = world();
  const stream = open("stalled");
  stream.isStalled = true;
  pass(12);
  stream.isStalled = false;
  pass(1);
  expect(pings).toEqual(["stalled 13"]);
});

test("interrupts all that are open, forgets those that ended, also by a ping, and stops with the last", () => {
  const { heartbeats, open, pass, pings, isTicking } = world();
  const [left, ended, open1] = [open("left"), open("ended"), open("open")];
  heartbeats.remove(left);
  const ping = ended.pingIfQuietSince;
  ended.pingIfQuietSince = (sinceMs) => {
    heartbeats.remove(ended);
    return ping(sinceMs);
  };
  pass(10);
  expect(heartbeats.interruptAll()).toBe(true);
  expect(pings).toEqual(["ended 10", "open 10", "open interrupted"]);
  pass(10);
  expect(pings.slice(3)).toEqual(["open 20"]);
  heartbeats.remove(open1);
  expect(heartbeats.interruptAll()).toBe(false);
  expect(isTicking()).toBe(false);
});
