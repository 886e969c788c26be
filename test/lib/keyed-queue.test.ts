import { describe, expect, test } from "bun:test";
import { createKeyedQueue, type Release } from "../../src/lib/keyed-queue.ts";
import { createRandom } from "../support/random.ts";

function openQueue() {
  const queue = createKeyedQueue({ maxWaiting: 3 });
  const entered: string[] = [];
  const releases = new Map<string, Release>();
  /** Enters as `name` and notes when its turn comes; false if it is refused. */
  function enter(name: string, key = "k", signal?: AbortSignal): boolean {
    const place = queue.enter(key, signal);
    place?.then(
      (release) => {
        entered.push(name);
        releases.set(name, release);
      },
      () => entered.push(`${name} dropped`),
    );
    return place !== null;
  }
  async function release(name: string): Promise<void> {
    await settled();
    releases.get(name)?.();
    await settled();
  }
  return { queue, entered, enter, release };
}

/** Lets callbacks of resolved promises run. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await null;
}

describe("the keyed queue", () => {
  test("lets in one entry of a key at a time, in order", async () => {
    const { entered, enter, release } = openQueue();
    for (const name of ["a", "b", "c"]) enter(name);
    await settled();
    expect(entered).toEqual(["a"]);
    await release("a");
    expect(entered).toEqual(["a", "b"]);
    await release("b");
    expect(entered).toEqual(["a", "b", "c"]);
  });

  test("keeps keys apart", async () => {
    const { entered, enter } = openQueue();
    enter("a", "one");
    enter("b", "other");
    await settled();
    expect(entered).toEqual(["a", "b"]);
  });

  test("refuses a fourth waiter, and accepts one again once a place is free", async () => {
    const { entered, enter, release } = openQueue();
    expect(["in", "w1", "w2", "w3", "w4"].map((name) => enter(name))).toEqual([true, true, true, true, false]);
    expect(enter("other", "other key")).toBe(true);
    await release("in");
    expect(enter("w5")).toBe(true);
    expect(enter("w6")).toBe(false);
    for (const name of ["w1", "w2", "w3", "w5"]) await release(name);
    expect(entered).toEqual(["in", "other", "w1", "w2", "w3", "w5"]);
  });

  test("drops a waiter whose signal fires, and frees its place", async () => {
    const { entered, enter, release } = openQueue();
    const leaving = new AbortController();
    enter("in");
    enter("w1");
    enter("w2", "k", leaving.signal);
    enter("w3");
    leaving.abort();
    await settled();
    expect(entered).toEqual(["in", "w2 dropped"]);
    expect(enter("w4")).toBe(true);
    expect(enter("w5")).toBe(false);
    for (const name of ["in", "w1", "w3"]) await release(name);
    expect(entered).toEqual(["in", "w2 dropped", "w1", "w3", "w4"]);
  });

  test("rejects with the signal's reason, also where it had fired before", async () => {
    const { queue } = openQueue();
    const leaving = new AbortController();
    await queue.enter("k");
    const place = queue.enter("k", leaving.signal);
    leaving.abort(new Error("gone"));
    await expect(place).rejects.toThrow("gone");
    await expect(queue.enter("free", leaving.signal)).rejects.toThrow("gone");
    expect(queue.size).toBe(1);
  });

  test("ignores a signal that fires after the entry was let in", async () => {
    const { entered, enter, release } = openQueue();
    const leaving = new AbortController();
    enter("first");
    enter("second", "k", leaving.signal);
    enter("third");
    await release("first");
    leaving.abort();
    await settled();
    expect(entered).toEqual(["first", "second"]);
    await release("second");
    expect(entered).toEqual(["first", "second", "third"]);
  });

  test("lets one in for each release, however often it is called", async () => {
    const { entered, enter, release } = openQueue();
    for (const name of ["a", "b", "c"]) enter(name);
    await settled();
    for (let i = 0; i < 3; i++) await release("a");
    expect(entered).toEqual(["a", "b"]);
  });

  test("drops keys that nobody holds or waits for", async () => {
    const { queue, enter, release } = openQueue();
    const leaving = new AbortController();
    enter("a");
    enter("b", "k", leaving.signal);
    leaving.abort();
    await settled();
    expect(queue.size).toBe(1);
    await release("a");
    expect(queue.size).toBe(0);
    await release("a");
    expect(queue.size).toBe(0);
  });

  test("never lets in two of one key at once, whatever enters, aborts and finishes", async () => {
    const random = createRandom(5);
    const queue = createKeyedQueue({ maxWaiting: 3 });
    const inside = new Map<string, number>();
    const finish: Array<() => void> = [];
    let done = 0;
    let started = 0;
    async function visit(key: string, leaving: AbortController): Promise<void> {
      const place = queue.enter(key, leaving.signal);
      if (place === null) return;
      const release = await place.catch(() => null);
      if (release === null) return;
      started++;
      inside.set(key, (inside.get(key) ?? 0) + 1);
      expect(inside.get(key)).toBe(1);
      await new Promise<void>((resolve) => finish.push(resolve));
      inside.set(key, 0);
      done++;
      release();
    }
    const visits: Promise<void>[] = [];
    for (let i = 0; i < 3000; i++) {
      const leaving = new AbortController();
      visits.push(visit(random.pick(["a", "b", "c"]), leaving));
      if (random.below(3) === 0) await settled();
      if (random.below(4) === 0) leaving.abort();
      if (random.below(2) === 0) finish.splice(random.below(finish.length), 1)[0]?.();
    }
    while (queue.size > 0) {
      finish.shift()?.();
      await settled();
    }
    await Promise.all(visits);
    expect(done).toBe(started);
    expect(done).toBeGreaterThan(500);
  });
});
