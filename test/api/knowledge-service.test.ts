/** What is sent to be known, on its way to the store. */
import { expect, test } from "bun:test";
import { readSource } from "../../src/api/knowledge/sent-source.ts";
import { prepareSource, toNewSource } from "../../src/api/knowledge/service.ts";
import { SentFile } from "../../src/http/upload-body.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { countTurns } from "../support/turns-of-the-loop.ts";

test("a file of megabytes is hashed once, a megabyte a turn", async () => {
  const bytes = new Uint8Array(19 * 1024 * 1024).fill(7);
  const file = new SentFile("manual.pdf", "application/pdf", bytes);
  let hash: string | undefined;
  const turns = await countTurns(async () => {
    hash = (await toNewSource({ ids: systemIds }, readSource({ file }))).upload?.hash;
  });
  expect(turns).toBeGreaterThanOrEqual(18);
  expect(hash).toBe(sha256Hex(bytes));

  const services = { ids: systemIds } as Parameters<typeof prepareSource>[0];
  const turnsUntilMade = await countTurns(() => prepareSource(services, "account", "companion", { file }, 0));
  expect(turnsUntilMade).toBeGreaterThanOrEqual(18);
});
