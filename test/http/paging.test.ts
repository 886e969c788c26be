/** Pages of lists that the store returns whole. */
import { expect, test } from "bun:test";
import { collectList, cutPage, toWireList } from "../../src/http/paging.ts";

const pageOf = (ids: readonly string[], limit: number, afterId: string | null) => {
  const { items, nextAfterId } = cutPage(
    ids.map((id) => ({ id })),
    { limit, afterId },
  );
  return { ids: items.map(({ id }) => id), nextAfterId };
};

test("goes on behind the cursor's item, also where ids are in another order: the clock was set back between two of them", () => {
  const newestFirst = ["b", "d", "a", "c"];
  expect(pageOf(newestFirst, 2, null)).toEqual({ ids: ["b", "d"], nextAfterId: "d" });
  expect(pageOf(newestFirst, 2, "d")).toEqual({ ids: ["a", "c"], nextAfterId: null });
  expect(pageOf(newestFirst, 1, "b")).toEqual({ ids: ["d"], nextAfterId: "d" });
});

test("goes on where the cursor's item stood, once that is deleted", () => {
  expect(pageOf(["d", "b", "a"], 1, "c")).toEqual({ ids: ["b"], nextAfterId: "b" });
  expect(pageOf([], 1, "c")).toEqual({ ids: [], nextAfterId: null });
});

test("a page of large items has at most 8 MiB, with all that stands around them", async () => {
  const most = 8 * 1024 * 1024;
  const items = Array.from({ length: 9 }, (_, index) => {
    return { id: `0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e0${index}`, updatedAt: 0 };
  });
  // With their commas, eight of them are 8 MiB to the byte.
  const toWire = ({ id }: { id: string }) => ({ id, text: "x".repeat(most / 8 - `{"id":"${id}","text":""},`.length) });
  const page = { items, nextAfterId: null };
  const read = await collectList({ limit: 1000, afterId: null, updatedSinceMs: null }, async () => page, toWire);
  for (const { text } of [read, toWireList(page, toWire)]) {
    expect(text.length).toBeLessThanOrEqual(most);
    const { data, next_cursor } = JSON.parse(String(text));
    expect([data.length, Buffer.from(next_cursor, "base64url").toString()]).toEqual([7, items[6]?.id ?? ""]);
  }
});

test("reads few items at once where they are large, and many where they are small", async () => {
  const asked = async (bytes: number) => {
    const limits: number[] = [];
    let next = 0;
    const read = async ({ limit }: { limit: number }) => {
      limits.push(limit);
      const items = Array.from({ length: limit }, () => ({ id: String(next++), updatedAt: 0 }));
      return { items, nextAfterId: items.at(-1)?.id ?? null };
    };
    const toWire = ({ id }: { id: string }) => ({ id, text: "x".repeat(bytes) });
    const { text } = await collectList({ limit: 100, afterId: null, updatedSinceMs: null }, read, toWire);
    expect(JSON.parse(String(text)).data).toHaveLength(100);
    return limits;
  };
  expect(await asked(10)).toEqual([8, 92]);
  expect(await asked(60_000)).toEqual([8, ...Array.from({ length: 23 }, () => 4)]);
});
