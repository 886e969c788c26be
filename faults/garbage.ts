/** Bytes that are not a request: refused or cut off, nothing smuggled through, and everyone else is served. */
import { chat } from "../test/support/chat.ts";
import { hostileBytes } from "../test/support/hostile-bytes.ts";
import { chatRequest, connectRaw } from "../test/support/raw-visitor.ts";
import { apiFaults } from "./client.ts";
import { type FaultRow, type Random, Tally } from "./row.ts";
import { inParallel, isAlive, makeCompanion, makeOwner, openDescriptors, openWorld } from "./world.ts";

const mutants = { tiny: 200, short: 10_000, long: 10_000 };

export const garbageRow: FaultRow = {
  name: "garbage",
  title: "malformed bytes on raw sockets",
  story:
    "Known attacks on HTTP parsers, then requests with a few bytes changed, doubled or left out, on raw " +
    "sockets. Each must be refused or cut off; nothing may be smuggled into the next request.",
  async run({ form, random, say }) {
    const tally = new Tally([
      ...apiFaults,
      "malformed requests with neither 4xx nor 505 nor a close",
      "5xx responses to mutated requests",
      "requests smuggled",
      "requests of others unanswered",
    ]);
    await using world = await openWorld();
    const owner = await makeOwner(world, tally, "garbage");
    const companion = await makeCompanion(owner.client);
    const restDescriptors = openDescriptors(world.server.pid);

    await inParallel(hostileBytes, hostileBytes.length, async ([what, bytes]) => {
      tally.did("connections: known attacks");
      const visitor = await connectRaw(world.url);
      visitor.write(bytes);
      const received = await visitor.until((text) => text.includes("\r\n\r\n")).catch(() => visitor.received);
      if (received !== "" && !/^HTTP\/1\.1 (4\d\d|505) /.test(received)) {
        tally.fault("malformed requests with neither 4xx nor 505 nor a close", `${what}: ${received}`);
      }
      if (received.includes("smuggled")) tally.fault("requests smuggled", what);
      visitor.vanish();
    });

    const sound = [
      `GET /api/embed/${companion.token} HTTP/1.1\r\nHost: a\r\n\r\n`,
      chatRequest(companion.token, { message: "hello" }),
      `GET /api/companions?limit=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner.key}\r\n\r\n`,
    ];
    const before = world.mock.requests.length;
    await inParallel(Array.from({ length: mutants[form] }), 50, async (_, index) => {
      tally.did("connections: mutated requests");
      const visitor = await connectRaw(world.url);
      const mutant = mutate(sound[index % sound.length] ?? "", random);
      visitor.write(mutant);
      // Some mutants stay incomplete: do not wait for a response to these.
      if (random.below(3) > 0)
        await Promise.race([visitor.until((text) => text.includes("\r\n")), Bun.sleep(50)]).catch(() => {});
      if (/^HTTP\/1\.1 5(?!05)/.test(visitor.received)) {
        tally.fault("5xx responses to mutated requests", `${JSON.stringify(mutant)}: ${visitor.received}`);
      }
      visitor.vanish();
      if (index % 500 === 499 && !(await isAlive(world.url))) {
        tally.fault("requests of others unanswered", `after ${index + 1}`);
      }
      if (index % 2_000 === 1_999) say(`${index + 1} mutants`);
    });
    tally.did("mutants that came through as chats", world.mock.requests.length - before);
    await world.mock.until(() => world.mock.openRequests === 0);
    const after = await chat(world.url, companion.token, { message: "Well?" });
    tally.equal("chats that work afterwards", after.isDone ? 1 : 0, 1);
    for (let look = 0; look < 300 && openDescriptors(world.server.pid) > restDescriptors + 4; look++) {
      await Bun.sleep(100);
    }
    tally.atMost("file descriptors left", Math.max(0, openDescriptors(world.server.pid) - restDescriptors), 4);
    return tally.outcome();
  },
};

/** A valid request with one to six bytes changed, removed or doubled, or with its end cut off. */
function mutate(request: string, random: Random): string {
  let bytes = request;
  for (let left = 1 + random.below(6); left > 0; left--) {
    const place = random.below(bytes.length);
    const byte = String.fromCharCode(random.below(256));
    const rest = bytes.slice(place + 1);
    const kinds = [
      byte + rest,
      rest,
      bytes.slice(place) + rest,
      byte.repeat(random.below(200)) + rest,
      `\r\n${rest}`,
      "",
    ];
    bytes = bytes.slice(0, place) + (kinds[random.below(kinds.length)] ?? "");
    if (bytes === "") return byte;
  }
  return bytes;
}
