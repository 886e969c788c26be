/** Bodies of strangers: what is given back, and when. */
import { expect, test } from "bun:test";
import { createBodyBudget } from "../../src/http/body-budget.ts";

const limits = {
  sender: "address",
  bodies: 3,
  bodiesOfOne: 2,
  bytes: 30,
  bytesOfOne: 20,
  bodyBytes: 12,
  bodyMs: 60_000,
} as const;
const ignore = () => {};

function post(body: RequestInit["body"]): Request {
  return new Request("http://companion.test/", { method: "POST", body });
}

function openBody(first = "") {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      if (first !== "") given.enqueue(Buffer.from(first));
    },
  });
  return {
    request: post(body),
    send: (text: string) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
  };
}

test("shows each piece as it comes, and gives all of them in the end", async () => {
  const budget = createBodyBudget(limits);
  const seen: string[] = [];
  const body = openBody("one");
  const see = (piece: Uint8Array) => {
    seen.push(Buffer.from(piece).toString());
    if (seen.length === 1) body.send("two");
    else body.end();
  };
  const outcome = await budget.read(body.request, "a", {
    see,
    use: (pieces) => `${Buffer.concat(pieces)} ${budget.heldBytes}`,
  });
  expect(seen).toEqual(["one", "two"]);
  expect(outcome).toBe("onetwo 6");
  expect(budget.heldBytes).toBe(0);
});

test("holds a body of single bytes in few pieces, since each piece takes up a hundred times a byte", async () => {
  const budget = createBodyBudget({ ...limits, bytes: 5000, bytesOfOne: 5000, bodyBytes: 5000 });
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === 5000) controller.close();
      else controller.enqueue(Uint8Array.of(sent++ % 251));
    },
  });
  const use = (pieces: readonly Uint8Array[]) => ({ count: pieces.length, bytes: Buffer.concat(pieces) });
  const { count, bytes } = await budget.read(post(body), "a", { see: ignore, use });
  expect(count).toBeLessThan(5);
  expect(bytes).toEqual(Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 251)));
});

test("lets others have their turn while bodies arrive faster than they can be read", async () => {
  const large = 1024 * 1024;
  const budget = createBodyBudget({ ...limits, bytes: large, bytesOfOne: large, bodyBytes: large });
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  // All of it is there at the first read.
  const bodies = [0, 1].map(() => {
    const body = openBody();
    for (let at = 0; at < 5; at++) body.send("a".repeat(8192));
    body.end();
    return body;
  });
  let atFirst = 0;
  const see = () => {
    atFirst ||= turns + 1;
    const untilMs = performance.now() + 5;
    while (performance.now() < untilMs);
  };
  await Promise.all(bodies.map(({ request }, at) => budget.read(request, `${at}`, { see, use: ignore })));
  isReading = false;
  expect(turns - atFirst).toBeGreaterThanOrEqual(4);
});

test("has no room for more bodies of one sender, or of all, until one has ended", async () => {
  const budget = createBodyBudget(limits);
  const bodies = [openBody(), openBody(), openBody()];
  const reads = bodies.map(({ request }, at) =>
    budget.read(request, at < 2 ? "a" : "b", { see: ignore, use: () => "taken" }),
  );
  const refusal = { code: "rate_limited", retryAfterSeconds: 10 };
  await expect(budget.read(post(""), "a", { see: ignore, use: ignore })).rejects.toMatchObject(refusal);
  await expect(budget.read(post(""), "c", { see: ignore, use: ignore })).rejects.toMatchObject(refusal);
  for (const body of bodies) body.end();
  expect(await Promise.all(reads)).toEqual(["taken", "taken", "taken"]);
  expect(await budget.read(post("more"), "a", { see: ignore, use: () => "taken" })).toBe("taken");
});

test("gives back what a body held, however it ends", async () => {
  const budget = createBodyBudget(limits);
  const failing = () => {
    throw new Error("not genuine");
  };
  await expect(budget.read(post("x"), "a", { see: ignore, use: failing })).rejects.toThrow("not genuine");
  await expect(budget.read(post("x"), "a", { see: failing, use: ignore })).rejects.toThrow("not genuine");
  const long = budget.read(post("x".repeat(13)), "a", { see: ignore, use: ignore });
  await expect(long).rejects.toMatchObject({ code: "payload_too_large" });
  expect(budget.heldBytes).toBe(0);
});

test("waits for no body longer than its time", async () => {
  const budget = createBodyBudget({ ...limits, bodyMs: 5 });
  const slow = openBody("begun");
  const outcome = budget.read(slow.request, "a", { see: ignore, use: ignore });
  await expect(outcome).rejects.toMatchObject({ code: "invalid_request" });
  expect(budget.heldBytes).toBe(0);
});
