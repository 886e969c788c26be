/** Bodies of uploads: what is large is worked on in slices, between which others have their turn. */
import { expect, test } from "bun:test";
import { uploadBodyLimits } from "../../src/contracts/limiter/rules.ts";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import { takeUpload } from "../../src/http/upload-body.ts";
import { LongText } from "../../src/lib/long-json.ts";
import { countTurns } from "../support/turns-of-the-loop.ts";

async function take(body: string | FormData) {
  const headers: Record<string, string> = typeof body === "string" ? { "content-type": "application/json" } : {};
  const request = new Request("http://localhost/", { method: "POST", body, headers });
  return await takeUpload({ request, bodies: createBodyBudget(uploadBodyLimits), accountId: "a" });
}

test("the JSON of a text of megabytes is parsed a few milliseconds' work a turn", async () => {
  const text = '¶ "a"\r\n\t'.repeat(800_000);
  const arrived = await take(JSON.stringify({ type: "text", title: "Returns", text }));
  let value: unknown;
  const turns = await countTurns(async () => {
    value = await arrived.parse();
  });
  expect(turns).toBeGreaterThanOrEqual(20);
  expect(value).toEqual({ type: "text", title: "Returns", text: expect.any(LongText) });
  expect(Buffer.from((value as { text: LongText }).text.bytes).toString() === text).toBe(true);
});

test("JSON that is large without long texts is refused before it is parsed", async () => {
  const arrived = await take(`{"text":[${"0,".repeat(1024 * 1024)}0]}`);
  expect(await arrived.parse().catch((error: unknown) => error)).toMatchObject({ code: "payload_too_large" });
});
