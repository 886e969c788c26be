/** Writing an edition of many passages. */
import { expect, test } from "bun:test";
import type { EditionSlice } from "../../src/contracts/store/store.ts";
import { EditionBuilder } from "../../src/core/knowledge/indexing/edition-builder.ts";

test("a server that stops does not first write all that is left of a long text", async () => {
  const stop = new AbortController();
  const slices: EditionSlice[] = [];
  const store = {
    async append(_: number, slice: EditionSlice) {
      slices.push(slice);
      if (slices.length === 3) stop.abort(new Error("the server is stopping"));
      return true;
    },
    readEdition: async () => [],
    readVectors: async () => [],
  };
  const markdown = Array.from({ length: 500 }, (_, at) => `# Section ${at}\n\n${"words of it ".repeat(20)}`).join(
    "\n\n",
  );
  const builder = new EditionBuilder(store, () => 1, 1, stop.signal);
  const facts = { url: null, title: "Long", contentHash: "hash", etag: null, lastModified: null };
  const writing = builder.addDocument(facts, { title: null, pages: [{ number: null, markdown }] });
  expect(writing).rejects.toThrow("the server is stopping");
  await writing.catch(() => {});
  expect(slices).toHaveLength(3);
});
