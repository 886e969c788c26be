/**
 * Clients that do not read, and clients that never finish sending: throttled and cut off in time, while everyone else
 * is served.
 */
import { unreadMs } from "../src/core/turns/named-replies.ts";
import { ownBytes, sharedBytes } from "../src/core/turns/reply-memory.ts";
import { chat } from "../test/support/chat.ts";
import { chunk } from "../test/support/mock-llm-replies.ts";
import { chatRequest, connectRaw, type RawVisitor } from "../test/support/raw-visitor.ts";
import { forgetPeak, peakKiB, residentKiB } from "../test/support/resident-memory.ts";
import { apiFaults } from "./client.ts";
import { type FaultRow, Tally } from "./row.ts";
import { isAlive, makeCompanion, makeOwner, openDescriptors, openWorld, type World } from "./world.ts";

const readers = { tiny: 10, short: 200, long: 200 };
/** What all replies may hold together, plus the connections of 200 readers, plus uncollected garbage. */
const memoryLimitMiB = 64;
/** Longer than the server's own timeout. */
const patienceMs = 120_000;
const senders = { tiny: 4, short: 100, long: 100 };

export const stalledRow: FaultRow = {
  name: "stalled-readers",
  title: "readers who read nothing of an endless reply, plain and resumable",
  story:
    `Visitors ask for an endless reply and read nothing of it, not even its head; then as many of a resumable one. Each reply may hold ${ownBytes / 1024} KiB, and ` +
    `beyond that all of them together ${sharedBytes / 1024 ** 2} MiB: replies that find nothing left are ended,` +
    " for the others the provider is paused until their readers are given up. The memory of the server is what the kernel noted as its peak. " +
    "Meanwhile everyone else must be served.",
  async run({ form }) {
    const tally = new Tally([
      ...apiFaults,
      "other visitors without a complete reply",
      "stalled readers never disconnected",
    ]);
    for (const isNamed of [false, true]) await stall(tally, readers[form], isNamed);
    return tally.outcome();
  },
};

async function stall(tally: Tally, count: number, isNamed: boolean): Promise<void> {
  const kind = isNamed ? "resumable" : "plain";
  await using world = await openWorld();
  const owner = await makeOwner(world, tally, "stalled");
  const companion = await makeCompanion(owner.client);
  // Each of these characters takes six bytes on the wire: more than the sockets in between can hold.
  const filler = chunk({ content: "\u0001".repeat(2_000) });
  let written = 0;
  world.mock.respond(async (request, response) => {
    if (request.userText !== "never read") {
      await response.write(`${chunk({ content: "hello" })}${chunk({ finishReason: "stop" })}data: [DONE]\n\n`);
      return response.end();
    }
    while (!response.isClosed) {
      await response.write(filler);
      written += filler.length;
    }
  });
  await serveOthers(world, companion.token, tally, 20);
  const restKiB = residentKiB(world.server.pid);
  const restDescriptors = openDescriptors(world.server.pid);
  forgetPeak(world.server.pid);

  const stalled: RawVisitor[] = [];
  for (let index = 0; index < count; index++) {
    const visitor = await connectRaw(world.url);
    visitor.pause();
    const ids = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID(), resume: true };
    visitor.write(chatRequest(companion.token, { message: "never read", ...(isNamed ? ids : {}) }));
    stalled.push(visitor);
  }
  tally.did(`${kind} stalled readers`, count);
  await world.mock.until(() => world.mock.openRequests >= count || world.mock.abortedRequests > 0, patienceMs);
  await serveOthers(world, companion.token, tally, 50);
  // The provider is fast, so wait until the count stands still: then it is being throttled.
  let seen = -1;
  while (seen !== written) {
    seen = written;
    await Bun.sleep(500);
  }
  for (const visitor of isNamed ? stalled : []) visitor.vanish();
  await world.mock.until(() => world.mock.openRequests === 0, patienceMs + unreadMs);
  for (const visitor of stalled) visitor.vanish();
  tally.equal(`${kind} provider requests ended after their readers`, world.mock.abortedRequests, count);
  // The sockets on both sides take megabytes each, outside the server, before anyone notices that nothing is read.
  tally.did("MiB from the provider until it was held back", Math.round(written / 1024 ** 2));
  const moreMiB = Math.ceil((peakKiB(world.server.pid) - restKiB) / 1024);
  tally.atMost(`${kind}: MiB more of memory at the peak`, moreMiB, memoryLimitMiB);
  await serveOthers(world, companion.token, tally, 20);
  await until(() => openDescriptors(world.server.pid) <= restDescriptors + 4, tally);
}

async function serveOthers(world: World, token: string, tally: Tally, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const response = await chat(world.url, token, { message: "hello" });
    tally.did("other visitors");
    if (!response.isDone) tally.fault("other visitors without a complete reply", `${response.status} ${response.raw}`);
  }
}

async function until(condition: () => boolean, tally: Tally): Promise<void> {
  for (let look = 0; look < 600; look++) {
    if (condition()) return;
    await Bun.sleep(100);
  }
  tally.fault("stalled readers never disconnected", "their descriptors are still open");
}

export const slowlorisRow: FaultRow = {
  name: "slowloris",
  title: "connections that never finish their request",
  story:
    "Connections that send nothing, half a header block, or a byte a second. All must be cut off, and others " +
    "must be served meanwhile.",
  async run({ form }) {
    const tally = new Tally(["requests of others unanswered", "slow connections never cut"]);
    await using world = await openWorld();
    const restDescriptors = openDescriptors(world.server.pid);
    const starts: [string, string, string][] = [
      ["nothing said", "", ""],
      ["half a head", "GET /healthz HTTP/1.1\r\nHost: a", ""],
      ["a head in pieces", "GET /healthz HTTP/1.1\r\nX-Slow: ", "x"],
      ["a body in pieces", bodyHead("Content-Length: 1000"), "x"],
      ["a chunked body in pieces", bodyHead("Transfer-Encoding: chunked"), "1\r\nx\r\n"],
      ["idle after a response", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", ""],
    ];
    const slow: { visitor: RawVisitor; piece: string }[] = [];
    for (const [what, start, piece] of starts) {
      for (let index = 0; index < senders[form]; index++) {
        const visitor = await connectRaw(world.url);
        if (start !== "") visitor.write(start);
        slow.push({ visitor, piece });
        tally.did(`connections: ${what}`);
      }
    }
    // A piece per second; two minutes are many times what the server waits.
    for (let piece = 0; piece < 120 && slow.some(({ visitor }) => !visitor.isClosed); piece++) {
      for (const one of slow) if (one.piece !== "" && !one.visitor.isClosed) one.visitor.write(one.piece);
      tally.did("requests of others");
      if (!(await isAlive(world.url))) tally.fault("requests of others unanswered", `in second ${piece}`);
      await Bun.sleep(1_000);
    }
    for (const { visitor, piece } of slow) {
      if (!visitor.isClosed) tally.fault("slow connections never cut", JSON.stringify(piece));
    }
    for (let look = 0; look < 100 && openDescriptors(world.server.pid) > restDescriptors + 4; look++) {
      await Bun.sleep(100);
    }
    tally.atMost("file descriptors left", openDescriptors(world.server.pid) - restDescriptors, 4);
    return tally.outcome();
  },
};

function bodyHead(framing: string): string {
  return `POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
}
