/** What is told and when it is tried again where no certificate can be had; the authority is played. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Authority, AuthorityFailure, type CertificateOrder } from "../../src/contracts/certificates/authority.ts";
import { createNameCheck } from "../../src/core/certificates/name-check.ts";
import { createAcmeAuthority } from "../../src/engines/acme/acme-authority.ts";
import { createFileCertificateStore } from "../../src/engines/certificate-stores/files.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { type Choices, hourMs, type KeptCertificate, keepCertificate } from "../support/kept-certificate.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const minuteMs = 60_000;
let directory: TemporaryDirectory;
let path: string;
let orders: CertificateOrder[];
/** What becomes of the next order. */
let answer: (order: CertificateOrder, signal: AbortSignal) => Promise<never>;
const { makeAccountKey } = createAcmeAuthority("https://127.0.0.1:1/");

const authority: Authority = {
  makeAccountKey,
  order(order, signal) {
    orders.push(order);
    return answer(order, signal);
  },
  findRenewalWindow: async () => null,
};

beforeEach(() => {
  directory = temporaryDirectory();
  path = directory.file("certificates");
  orders = [];
  answer = async () => fail({ kind: "away", detail: "connection refused" });
});
afterEach(() => directory[Symbol.dispose]());

function fail(facts: ConstructorParameters<typeof AuthorityFailure>[0]): never {
  throw new AuthorityFailure(facts);
}

async function keep(choices: Partial<Choices> = {}): Promise<KeptCertificate> {
  const kept = await keepCertificate({ path, authority, ...choices });
  await kept.rest();
  return kept;
}

/** In minutes from now. */
async function nextAfter(kept: KeptCertificate, nowMs: number): Promise<number> {
  await kept.rest();
  return ((kept.certificates.state.nextAttemptAtMs ?? 0) - nowMs) / minuteMs;
}

test("failures are tried again after longer and longer pauses", async () => {
  let nowMs = Date.UTC(2026, 5, 1, 12);
  await using kept = await keep({ startMs: nowMs });
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    const pause = await nextAfter(kept, nowMs);
    pauses.push(pause);
    // The longest look is an hour away; a pause may have several of them.
    for (let left = pause; left > 0; left -= 60) {
      kept.pass(Math.min(left, 60) * minuteMs);
      nowMs += Math.min(left, 60) * minuteMs;
      await kept.rest();
    }
  }
  expect(pauses).toEqual([1, 5, 15, 60, 240, 240]);
  expect(orders).toHaveLength(7);
  expect(kept.certificates.state.problem).toBe(
    "The authority (authority.example) is unavailable: connection refused. It is asked again automatically.",
  );
  const warnings = kept.log.events.filter(({ level }) => level === "warn");
  expect(warnings).toHaveLength(7);
  expect(warnings[0]?.fields).toEqual({
    reason: kept.certificates.state.problem,
    nextAttempt: "2026-06-01T12:01:00.000Z",
  });
});

test("a wrong directory is a wrong setting, and says which", async () => {
  answer = async () => fail({ kind: "directory", detail: "status 404" });
  await using kept = await keep();
  const reason =
    "COMPANIOND_ACME_DIRECTORY is wrong: there is no ACME directory at https://authority.example/dir (status 404). Set " +
    "it to the URL of the authority's directory, then restart the server.";
  expect(kept.certificates.state.problem).toBe(reason);
  expect(kept.log.events).toMatchObject([{ level: "warn", fields: { reason } }]);
});

test("no restart forgets a pause, or what it is for", async () => {
  const startMs = Date.UTC(2026, 5, 1, 12);
  await (await keep({ startMs }))[Symbol.asyncDispose]();
  await using second = await keep({ startMs: startMs + 30_000 });
  expect(orders).toHaveLength(1);
  expect(second.certificates.state).toMatchObject({
    problem: expect.stringContaining("is unavailable"),
    nextAttemptAtMs: startMs + minuteMs,
  });
  expect(second.log.events).toMatchObject([{ level: "warn", fields: { reason: second.certificates.state.problem } }]);
  second.pass(30_000);
  await eventually(() => orders.length === 2);
});

test("a server that crashes in the middle of orders does not ask at each start", async () => {
  const startMs = Date.UTC(2026, 5, 1, 12);
  answer = () => new Promise(() => {});
  const kept = await keepCertificate({ path, authority, startMs });
  await eventually(() => orders.length === 1);
  // Nobody stops it: that is how a crash leaves it.
  await using second = await keep({ startMs: startMs + 1000 });
  expect(orders).toHaveLength(1);
  expect(second.certificates.state).toMatchObject({
    problem: "The last attempt was cut short.",
    nextAttemptAtMs: startMs + minuteMs,
  });
  expect(kept.certificates.state.nextAttemptAtMs).toBeNull();
});

test("a stop in the middle of an order is no failure", async () => {
  answer = (_, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const kept = await keepCertificate({ path, authority });
  await eventually(() => orders.length === 1);
  await inTime(kept.certificates.stop(), { what: "the certificates's stop" });
  expect(kept.log.events).toEqual([]);
  answer = async () => fail({ kind: "away", detail: "connection refused" });
  await using _second = await keep();
  expect(orders).toHaveLength(2);
});

test("the authority's own limit holds across restarts, and against an operator who asks", async () => {
  const startMs = Date.UTC(2026, 5, 1, 12);
  answer = async () => fail({ kind: "limited", detail: "too many certificates", retryAfterMs: 2 * hourMs });
  await (await keep({ startMs }))[Symbol.asyncDispose]();
  await using second = await keep({ startMs: startMs + hourMs });
  second.certificates.lookAgain();
  await second.rest();
  expect(orders).toHaveLength(1);
  expect(second.certificates.state).toMatchObject({
    problem: "The authority's limit is reached until 14:00 UTC: too many certificates.",
    nextAttemptAtMs: startMs + 2 * hourMs,
  });
  second.pass(hourMs);
  await eventually(() => orders.length === 2);
});

test("an operator who asks need not wait, but for the sixth failure in an hour", async () => {
  await using kept = await keep();
  for (let more = 0; more < 7; more++) {
    kept.certificates.lookAgain();
    await kept.rest();
  }
  expect(orders).toHaveLength(5);
  kept.pass(hourMs);
  await kept.rest();
  kept.certificates.lookAgain();
  await kept.rest();
  expect(orders).toHaveLength(6);
});

test("other names are not held back by the failures of those before", async () => {
  await (await keep())[Symbol.asyncDispose]();
  await using _second = await keep({ names: ["help.example.com"] });
  expect(orders.map(({ names }) => names)).toEqual([["chat.example.com"], ["help.example.com"]]);
});

test("a name without an address here is ordered all the same, and again as soon as it has one", async () => {
  let isMissing = true;
  const sentence = "chat.example.com does not resolve yet. Add an A or AAAA record that points to this server.";
  answer = async () => fail({ kind: "dns", detail: "NXDOMAIN", domain: "chat.example.com" });
  // The authority's name servers may know what those of this network do not.
  await using kept = await keep({ checkName: async () => (isMissing ? { isMissing, sentence } : null) });
  expect(orders).toHaveLength(1);
  expect(kept.certificates.state.problem).toBe(
    `The authority found no address for chat.example.com: NXDOMAIN. Check its A and AAAA records. ${sentence}`,
  );
  const pass = async (minutes: number) => {
    kept.pass(minutes * minuteMs);
    await kept.rest();
  };
  await pass(1);
  expect(orders).toHaveLength(2);
  await pass(2);
  expect(orders).toHaveLength(2);
  isMissing = false;
  await pass(2);
  expect(orders).toHaveLength(3);
  await pass(2);
  expect(orders).toHaveLength(3);
});

test("it is ordered again at once after a restart, too, if it has an address then", async () => {
  answer = async () => fail({ kind: "dns", detail: "NXDOMAIN", domain: "chat.example.com" });
  await (await keep({ checkName: async () => ({ isMissing: true, sentence: "none" }) }))[Symbol.asyncDispose]();
  await (await keep({ checkName: async () => ({ isMissing: true, sentence: "none" }) }))[Symbol.asyncDispose]();
  expect(orders).toHaveLength(1);
  await using _found = await keep();
  expect(orders).toHaveLength(2);
});

test("what this server saw of a name itself stands beside what the authority says", async () => {
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("parked") });
  answer = async () => fail({ kind: "unauthorized", detail: "404", domain: "chat.example.com" });
  const checkName = createNameCheck(other.port, async () => [{ address: "203.0.113.9" }]);
  await using kept = await keep({ names: ["localhost"], checkName });
  expect(kept.certificates.state.problem).toBe(
    "Something else answered the authority on port 80 of chat.example.com: 404. Point chat.example.com to this " +
      "server, and let nothing in front of it answer /.well-known/acme-challenge/. From here, localhost points to " +
      "203.0.113.9, which answers as something else.",
  );
  await other.stop(true);
});

test("challenges are answered while the order runs, and for nobody else's tokens", async () => {
  const token = "x".repeat(43);
  const put = Promise.withResolvers<void>();
  const end = Promise.withResolvers<never>();
  answer = async (order) => {
    await order.putChallenge(token, "the answer");
    put.resolve();
    return await end.promise;
  };
  const { certificates, rest } = await keepCertificate({ path, authority });
  await put.promise;
  const ask = () =>
    Promise.all([token, "y".repeat(43), "../../etc/passwd"].map((asked) => certificates.findChallenge(asked)));
  expect(await ask()).toEqual(["the answer", null, null]);
  end.reject(new AuthorityFailure({ kind: "refused", detail: "no" }));
  await rest();
  expect(await ask()).toEqual([null, null, null]);
  await certificates.stop();
});

test("nothing is asked of an authority while the attempt cannot be noted", async () => {
  // Where the directory should be is a file.
  writeFileSync(path, "");
  await using kept = await keep();
  expect(orders).toEqual([]);
  expect(kept.certificates.state.problem).toStartWith("The certificate could not be checked: ");
  rmSync(path);
  kept.pass(minuteMs);
  await eventually(() => orders.length === 1);
});

test("an attempt of a clock that was far ahead holds nobody back", async () => {
  await (await keep({ startMs: Date.UTC(2080, 0, 1) }))[Symbol.asyncDispose]();
  await using _second = await keep();
  expect(orders).toHaveLength(2);
});

test("an authority's words are one line of bounded length", async () => {
  answer = async () => fail({ kind: "refused", detail: `bad\n\u001b[31m${"x".repeat(9000)}` });
  await using kept = await keep();
  const { problem } = kept.certificates.state;
  expect(problem).toMatch(/^The authority refused the order: bad \[31mx+…\.$/);
  expect(problem?.length).toBeLessThan(400);
});

test("what is stored is replaced as a whole, or not at all", async () => {
  const store = createFileCertificateStore(path);
  await store.write("attempts", "one");
  mkdirSync(join(path, `attempts.json.${process.pid}.partial`));
  expect(store.write("attempts", "two")).rejects.toThrow();
  await store.write("account", "key");
  expect(readFileSync(join(path, "attempts.json"), "utf8")).toBe("one");
});
