/** Pages of lists that the store returns whole. */
import { expect, test } from "bun:test";
import { cutPage } from "../../src/http/paging.ts";

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
