/** `companiond spending`, on a real database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const dir = temporaryDirectory();
const options: CliOptions = { environment: { COMPANIOND_DATA_DIR: dir.path } };
const email = "ada@shop.example";
afterAll(() => dir[Symbol.dispose]());
beforeAll(async () => {
  await runJson(["account", "create", "--email", email], options);
});

const run = (...words: string[]) => runJson(["spending", ...words], options);

test("stops and starts all and single accounts, one by one, and says what is stopped", async () => {
  expect(await run("status")).toEqual({ data: [] });
  expect(await run("stop")).toEqual({ account_id: null, stopped: true });
  const own = (await run("stop", "--account", email)) as { account_id: string };
  const { data } = (await run("status", "--account", email)) as { data: { account_id: string | null }[] };
  expect(data.map(({ account_id }) => account_id)).toEqual([null, own.account_id]);
  // All still are.
  expect(await run("start", "--account", email)).toEqual({ account_id: own.account_id, stopped: true });
  expect(await run("start")).toEqual({ account_id: null, stopped: false });
  const again = await runCommand(["spending", "start"], options);
  expect(again.stdout).toBe("Nothing was stopped for all accounts.\n");
});
