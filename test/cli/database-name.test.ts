/** How commands name the database in their output. */
import { expect, test } from "bun:test";
import { nameDatabase } from "../../src/cli/database-name.ts";

test.each([
  [null, "in /data"],
  ["postgres://app:hunter2@db.example/companiond?sslmode=require", "companiond at db.example"],
  ["postgres://app:hunter2@[::1]:5433/a%20b", "a b at [::1]:5433"],
  ["postgres://app:hunter2@%2Frun%2Fpostgresql/companiond", "companiond at /run/postgresql"],
])("%p is %s", (url, name) => {
  const database = url === null ? null : { url, pool: 10, poolHeavy: 4 };
  expect(nameDatabase({ dataDir: "/data", database })).toBe(name);
});
