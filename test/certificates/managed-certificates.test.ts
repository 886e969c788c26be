/** A certificate's life with a real authority (pebble): ordered, stored, used again, renewed. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificate } from "../../src/lib/certificate.ts";
import { type Choices, dayMs, hourMs, keepCertificate } from "../support/kept-certificate.ts";
import { type Pebble, startPebble } from "../support/pebble.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let pebble: Pebble;
let directory: TemporaryDirectory;
let path: string;

beforeAll(async () => {
  pebble = await startPebble();
});
afterAll(async () => {
  await pebble[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});
beforeEach(() => {
  directory?.[Symbol.dispose]();
  directory = temporaryDirectory();
  path = directory.file("certificates");
  pebble.requests.length = 0;
});

/** Waits for the first look. */
async function keep(choices: Partial<Choices> = {}) {
  const kept = await keepCertificate({ path, pebble, ...choices });
  await kept.rest();
  return kept;
}

const namesOf = ({ cert }: Certificate) => new X509Certificate(cert).subjectAltName;

test("the first start orders a certificate, and keeps it for its own user alone", async () => {
  await using kept = await keep();
  const { current, state } = kept.certificates;
  if (current === null) throw new Error("there is no certificate");
  const { validToDate } = new X509Certificate(current.cert);
  expect(state).toMatchObject({ domains: ["chat.example.com"], expiresAtMs: validToDate.getTime(), problem: null });
  expect(kept.outcomes).toEqual(["obtained"]);
  expect(readdirSync(path).sort()).toEqual(["account.pem", "certificate.pem"]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  expect(kept.log.events.map(({ event }) => event)).toEqual(["certificate obtained"]);
  expect(kept.log.text()).not.toContain("PRIVATE");
});

test("the next start uses what is stored, and asks nobody", async () => {
  await using first = await keep();
  pebble.requests.length = 0;
  await using second = await keep();
  expect(second.certificates.current).toEqual(first.certificates.current);
  second.certificates.lookAgain();
  await second.rest();
  expect(pebble.requests).toEqual([]);
});

test("after two thirds of its life it is replaced, once, and handed on", async () => {
  await using kept = await keep();
  const before = kept.certificates.current;
  const handed: Certificate[] = [];
  kept.certificates.onChange((certificate) => void handed.push(certificate));
  kept.pass(60 * dayMs - hourMs);
  await kept.rest();
  expect(handed).toEqual([]);
  kept.pass(2 * hourMs);
  await kept.rest();
  expect(handed).toHaveLength(1);
  expect(kept.certificates.current).toBe(handed[0] ?? null);
  expect(handed[0]?.key).not.toBe(before?.key);
  // By a clock so far ahead, the new one would be due at once again.
  pebble.requests.length = 0;
  kept.pass(hourMs);
  await kept.rest();
  expect(pebble.requests).toEqual([]);
});

test("with other names, the stored certificate is served until the new one is there", async () => {
  await using first = await keep();
  const names = ["chat.example.com", "help.example.com"];
  const back = pebble.leave();
  await using second = await keep({ names });
  expect(second.certificates.current).toEqual(first.certificates.current);
  expect(second.certificates.state.problem).toContain("is unavailable: connection refused");
  back();
  second.pass(2 * 60_000);
  await second.rest();
  expect(second.certificates.current && namesOf(second.certificates.current)).toBe(
    "DNS:chat.example.com, DNS:help.example.com",
  );
  expect(second.certificates.state.problem).toBeNull();
  await using third = await keep({ names: names.toReversed() });
  expect(third.certificates.current).toEqual(second.certificates.current);
});

test("an expired certificate is served and ordered anew", async () => {
  await using first = await keep();
  const startMs = Date.now() + 100 * dayMs;
  const back = pebble.leave();
  await using late = await keep({ startMs });
  expect(late.certificates.current).toEqual(first.certificates.current);
  expect(late.certificates.state.expiresAtMs).toBeLessThan(startMs);
  back();
  late.pass(2 * 60_000);
  await late.rest();
  expect(late.certificates.current?.key).not.toBe(first.certificates.current?.key);
});

test("a certificate of another authority is replaced", async () => {
  await using first = await keep();
  const file = join(path, "certificate.pem");
  writeFileSync(file, readFileSync(file, "utf8").replace(pebble.directory, "https://staging.example/dir"));
  await using second = await keep();
  expect(second.certificates.current?.key).not.toBe(first.certificates.current?.key);
});

test.each([
  ["certificate.pem", "certificate"],
  ["account.pem", "account key"],
])("a damaged %s is told, put aside, and made anew", async (name, what) => {
  await using first = await keep();
  const file = join(path, name);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/[A-Z]{3}/g, "???"));
  if (name === "account.pem") rmSync(join(path, "certificate.pem"));
  await using second = await keep();
  expect(second.certificates.current?.key).not.toBe(first.certificates.current?.key);
  const [told] = second.log.events;
  expect(told).toMatchObject({ level: "warn", event: `the stored ${what} cannot be used: a new one is made` });
  expect(told?.fields["keptAs"]).toBe(`${file}.unusable`);
  expect(existsSync(`${file}.unusable`)).toBe(true);
});

test("deleted files and a look order anew, while the old certificate is served", async () => {
  await using kept = await keep();
  const before = kept.certificates.current;
  rmSync(path, { recursive: true });
  kept.certificates.lookAgain();
  expect(kept.certificates.current).toBe(before);
  await kept.rest();
  expect(kept.certificates.current?.key).not.toBe(before?.key);
});

test("an authority that wants a certificate back has it replaced before its time", async () => {
  await using kept = await keep();
  const before = kept.certificates.current;
  const real = pebble.directory.replace("/dir", "");
  const answers: Readonly<Record<string, () => Response>> = {
    "/dir": () =>
      Response.json({
        ...Object.fromEntries(
          Object.entries({ newNonce: "nonce-plz", newAccount: "sign-me-up", newOrder: "order-plz" }).map(
            ([name, place]) => [name, `${real}/${place}`],
          ),
        ),
        renewalInfo: `${real}/info`,
      }),
    "/info": () => Response.json({ suggestedWindow: { start: "2020-01-01T00:00:00Z", end: "2020-01-02T00:00:00Z" } }),
  };
  pebble.intercept(({ url }) => answers[new URL(url).pathname.replace(/(\/info)\/.*/, "$1")]?.() ?? null);
  kept.pass(hourMs);
  await kept.rest();
  expect(pebble.requests.some((asked) => asked.startsWith("/info/"))).toBe(true);
  // Not within half a day of the last one.
  expect(kept.certificates.current).toBe(before);
  kept.pass(12 * hourMs);
  await kept.rest();
  pebble.intercept(null);
  expect(kept.certificates.current?.key).not.toBe(before?.key);
});
