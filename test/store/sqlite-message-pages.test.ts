/** What reading a page of messages takes in SQLite. */
import { expect, test } from "bun:test";
import { openConnection } from "../../src/engines/sqlite/connection.ts";
import { createMessagePages } from "../../src/engines/sqlite/conversations.ts";
import { type Query, SqliteEngine } from "../../src/engines/sqlite/engine.ts";
import { provideSqlite } from "../support/sqlite-template.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("reads of long messages no more than the page holds", async () => {
  using directory = temporaryDirectory();
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const engine = new SqliteEngine(database);
  const insert = engine.query<null, [string, string, number]>(
    `INSERT INTO messages (conversation_number, id, role, channel, complete, tokens_estimated, text, created_at, seq)
     VALUES (7, ?, 'user', 'text', 1, 0, ?, ?, 1)`,
  );
  const long = "x".repeat(1024 * 1024);
  await engine.write(() => {
    for (let at = 0; at < 20; at++) insert.run(`message-${at}`, long, at);
  });

  let readUnits = 0;
  const query = engine.query.bind(engine) as (sql: string) => Query<{ text?: string }, never[]>;
  const watched = {
    query(sql: string) {
      const made = query(sql);
      return {
        get: (...all: never[]) => made.get(...all),
        all(...all: never[]) {
          const rows = made.all(...all);
          for (const { text = "" } of rows) readUnits += text.length;
          return rows;
        },
      };
    },
  };
  const pages = createMessagePages(watched as unknown as SqliteEngine);
  const { messages, nextBefore } = pages.read(7, { before: null, limit: 20 });
  expect(messages.map(({ id }) => id)).toEqual(["message-18", "message-19"]);
  expect(nextBefore).toEqual({ createdAt: 18, id: "message-18" });
  expect(readUnits).toBe(2 * long.length);
  await engine.close();
});
