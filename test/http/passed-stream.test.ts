/** What is made of another instance's stream, however the network cuts it. */
import { expect, test } from "bun:test";
import type { TurnEvent } from "../../src/core/turns/events.ts";
import { PassedReply } from "../../src/http/passed-stream.ts";
import { eventually } from "../support/eventually.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

function bodyOf(pieces: Iterable<Uint8Array>, ending: "end" | "break" = "end") {
  const source = pieces[Symbol.iterator]();
  const seen = { pulled: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value } = source.next();
        seen.pulled++;
        if (value !== undefined) controller.enqueue(value);
        else if (ending === "end") controller.close();
        else controller.error(new Error("broke off"));
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

/** Everything that a reader of these bytes is told. */
async function read(pieces: Iterable<Uint8Array>, ending: "end" | "break" = "end"): Promise<TurnEvent[]> {
  const told: TurnEvent[] = [];
  const reply = new PassedReply(bodyOf(pieces, ending).body);
  reply.attach({ take: (event) => void told.push(event), heldUnits: 0, dropHeld() {} });
  await reply.start();
  return told;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (told: TurnEvent[]) => told.flatMap((event) => (event.type === "text" ? event.deltas : [])).join("");

const events = 'id: 7\ndata: {"text":"Grüße 🦜"}\n\nid: 9\ndata: {"text":"\\n\\n"}\n\nid: 9\ndata: [DONE]\n\n';
const complete: TurnEvent = { type: "end", outcome: "complete" };
const broken = (code: "unavailable" | "cancelled" | "upstream_error"): TurnEvent => ({
  type: "end",
  outcome: "broken",
  code,
});

test("passes events on whole, wherever the bytes were cut", async () => {
  const all = bytes(`: ping\n\n${events}`);
  for (let cut = 0; cut <= all.length; cut++) {
    const told = await read([all.subarray(0, cut), all.subarray(cut)]);
    expect(textOf(told)).toBe(events);
    expect(told.at(-1)).toEqual(complete);
    for (const event of told) if (event.type === "text") expect(event.deltas.join("")).toEndWith("\n\n");
  }
  const single = await read(Array.from(all, (byte) => Uint8Array.of(byte)));
  expect(single.map(({ type }) => type)).toEqual(["waiting", "text", "text", "text", "end"]);
  expect(textOf(single)).toBe(events);
});

test("a sign of life that comes together with text is passed on before it", async () => {
  const told = await read([bytes(`: ping\n\n${events}`)]);
  expect(told.map(({ type }) => type)).toEqual(["waiting", "text", "end"]);
  expect(textOf(told)).toBe(events);
});

test("the other's word about the end is the end, and what follows it is nothing", async () => {
  expect(await read([bytes('data: {"text":"a"}\n\n: error cancelled\n\n')])).toEqual([
    { type: "text", deltas: ['data: {"text":"a"}\n\n'] },
    broken("cancelled"),
  ]);
  expect((await read([bytes(": error upstream_error\n\n")])).at(-1)).toEqual(broken("upstream_error"));
  expect((await read([bytes(": error of a later version\n\n")])).at(-1)).toEqual(broken("unavailable"));
  expect(await read([bytes("data: [DONE]\n\n"), bytes('data: {"text":"late"}\n\n')])).toEqual([
    { type: "text", deltas: ["data: [DONE]\n\n"] },
    complete,
  ]);
});

test.each(["end", "break"] as const)("without such a word the reply is unavailable: %s", async (ending) => {
  expect(await read([bytes('data: {"text":"a"}\n\ndata: {"te')], ending)).toEqual([
    { type: "text", deltas: ['data: {"text":"a"}\n\n'] },
    broken("unavailable"),
  ]);
});

test("reads no faster than its reader takes, and nothing more when that one has left", async () => {
  function* endless() {
    for (;;) yield bytes('data: {"text":"a"}\n\n');
  }
  const { body, seen } = bodyOf(endless());
  const reply = new PassedReply(body);
  const stalls: PromiseWithResolvers<void>[] = [];
  const take = () => {
    const stall = Promise.withResolvers<void>();
    stalls.push(stall);
    return stall.promise;
  };
  reply.attach({ take, heldUnits: 0, dropHeld() {} });
  const reading = reply.start();
  for (let taken = 1; taken <= 3; taken++) {
    await eventually(() => stalls.length === taken);
    await turnsOfTheLoop(5);
    expect(seen.pulled).toBe(taken);
    stalls.at(-1)?.resolve();
  }
  await eventually(() => stalls.length === 4);
  reply.leave();
  stalls.at(-1)?.resolve();
  await reading;
  expect([stalls.length, seen.isCancelled]).toEqual([4, true]);
});
