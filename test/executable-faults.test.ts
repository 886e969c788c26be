/** A small part of every kind of trouble that `bun run faults` makes for the executable; `docs/faults.md` has the whole. */
import { expect, test } from "bun:test";
import { createContext, listFailures } from "../faults/row.ts";
import { rows } from "../faults/rows.ts";

/** Another one would do as well, but what fails here should fail again. */
const seed = 20_261_121;
/** Half a minute each for the server's patience to end: `executable-hostile.test.ts` waits for it once for all. */
const isSlow = new Set(["stalled-readers", "slowloris"]);

for (const row of rows.filter(({ name }) => !isSlow.has(name))) {
  test(`stands ${row.title}`, async () => {
    expect(listFailures(await row.run(createContext("tiny", seed)))).toEqual([]);
  }, 300_000);
}
