/** Searches of conversations in PostgreSQL, which read in bounded pieces. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { textParts } from "../../src/domain/conversation.ts";
import { createMessageSearch } from "../../src/engines/postgres/message-search.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { openPostgresServers, type PostgresServers } from "../support/postgres-servers.ts";

let servers: PostgresServers;
beforeEach(async () => {
  servers = await openPostgresServers();
});
afterEach(() => servers.close());

/** Conversations of long messages, one character of which makes half a megabyte; returns them as the list reads them. */
async function converse(conversations: readonly string[]): Promise<{ number: number }[]> {
  const { worlds, companion, sql } = servers;
  const [{ store, turnOf }] = worlds;
  for (const letters of conversations) {
    const turn = turnOf(companion, { answered: null });
    const [first] = turn.messages;
    if (first === undefined) throw new Error("there is no message");
    const messages = [...letters].map((letter) => {
      return { ...first, id: systemIds.uuid(), parts: textParts(`${letter.repeat(400_000)}ÄÄ${letter}`) };
    });
    await store.turns.settle({ ...turn, messages });
  }
  return [...(await sql`SELECT number::float8 AS number FROM conversations ORDER BY number`)] as { number: number }[];
}

test("find matches before, between and after the pieces, and say where they stopped", async () => {
  const rows = await converse(["abcdefg", "hijklmn", "o", "", "pqrstuvwxyz"].filter((letters) => letters !== ""));
  const search = createMessageSearch(servers.worlds[0].opened.engine.heavy);
  const [first, second, third, fourth] = rows as [{ number: number }, ...{ number: number }[]];
  const all = { wanted: 10, maxText: 1e9 };
  const find = async (q: string, bounds = all) => await search(rows, q, bounds);
  for (const [conversation, letters] of [
    [first, "ABCDEFG"],
    [second, "HIJKLMN"],
    [third, "O"],
    [fourth, "PQRSTUVWXYZ"],
  ] as const) {
    for (const letter of letters)
      expect(await find(`ää${letter}`)).toMatchObject({ found: [conversation], last: null });
  }
  expect(await find("nowhere")).toMatchObject({ found: [], last: null });
  const everywhere = await find("ÄÄ");
  expect(everywhere.found).toEqual(rows);
  expect(everywhere.read).toBeLessThan((await find("nowhere")).read);
  expect(await find("ÄÄ", { ...all, wanted: 2 })).toMatchObject({ found: rows.slice(0, 2), last: second });
  expect(await find("ÄÄ", { ...all, wanted: 4 })).toMatchObject({ found: rows, last: null });
  // It ends with a conversation, even if that has more than the bound.
  expect(await find("nowhere", { ...all, maxText: 1 })).toMatchObject({ found: [], last: first });
  expect(await find("nowhere", { ...all, maxText: 4_000_000 })).toMatchObject({ found: [], last: second });
});
