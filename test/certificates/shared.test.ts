/** Several servers with one PostgreSQL: one orders, all answer and serve. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { createSharedCertificateStore } from "../../src/engines/certificate-stores/shared.ts";
import { createCertificateTexts } from "../../src/engines/postgres/open-storage.ts";
import { createSealing, makeSealingKey, readSealingKey } from "../../src/lib/sealing.ts";
import { eventually } from "../support/eventually.ts";
import { type KeptCertificate, keepCertificate } from "../support/kept-certificate.ts";
import { type Pebble, startPebble } from "../support/pebble.ts";
import { openPostgresInstance, type PostgresInstance } from "../support/postgres-instance.ts";
import { sharedPostgres } from "../support/postgres-server.ts";

let pebble: Pebble;
let url: string;
let secretKey = makeSealingKey();

/** Which server the names lead to. */
let found: Server | null = null;
/** The tokens that it was asked for. */
const tokens: string[] = [];

beforeAll(async () => {
  const postgres = await sharedPostgres();
  pebble = await startPebble({ refusedNonces: 0 });
  ({ url } = await postgres.createDatabase());
  pebble.answer(async (token) => {
    await eventually(() => found !== null);
    tokens.push(token);
    return (await found?.kept.certificates.findChallenge(token)) ?? null;
  });
});
afterAll(() => pebble[Symbol.asyncDispose]());

interface Server extends AsyncDisposable {
  kept: KeptCertificate;
  instance: PostgresInstance;
}

async function open(): Promise<Server> {
  const key = readSealingKey(secretKey);
  if (key === null) throw new Error("no key");
  const instance = await openPostgresInstance(url);
  const store = createSharedCertificateStore(createCertificateTexts(instance.engine), await createSealing(key));
  const { duties } = instance.coordination;
  const kept = await keepCertificate({ path: "unused", pebble, isFound: false, store, duties });
  return {
    kept,
    instance,
    async [Symbol.asyncDispose]() {
      await kept.certificates.stop();
      await instance.close();
    },
  };
}

const orders = () => pebble.requests.filter((path) => path === "/order-plz").length;

async function readRows(): Promise<{ name: string; sealed: string }[]> {
  await using sql = new SQL(url, { max: 1 });
  return [...(await sql`SELECT name, sealed FROM certificate_texts ORDER BY name`)];
}

test("one server orders, another answers the authority, and all serve the same", async () => {
  await using first = await open();
  await eventually(() => orders() === 1);
  await using second = await open();
  found = second;
  await first.kept.rest();
  await eventually(() => {
    second.kept.pass(5_000);
    return second.kept.certificates.current !== null;
  });
  expect(second.kept.certificates.current).toEqual(first.kept.certificates.current);
  expect(first.kept.certificates.current).not.toBeNull();
  expect(orders()).toBe(1);
  expect(tokens.length).toBeGreaterThan(0);
  await using third = await open();
  expect(third.kept.certificates.current).toEqual(first.kept.certificates.current);
  await third.kept.rest();
  expect(orders()).toBe(1);
});

test("what is in the database is sealed, and no challenge is left over", async () => {
  const rows = await readRows();
  expect(rows.map(({ name }) => name)).toEqual(["account", "certificate"]);
  for (const { sealed } of rows) expect(sealed).toMatch(/^v1\.[\w=-]{100,}$/);
});

test("when the server with the duty has gone, another one renews", async () => {
  const first = await open();
  found = first;
  await first.kept.rest();
  const before = first.kept.certificates.current;
  first.kept.certificates.lookAgain();
  await first.kept.rest();
  await first[Symbol.asyncDispose]();
  await using second = await open();
  found = second;
  await second.kept.rest();
  pebble.requests.length = 0;
  second.kept.pass(61 * 86_400_000);
  await eventually(() => second.kept.certificates.current?.key !== before?.key);
  expect(orders()).toBe(1);
});

test("what another secret key has sealed is told, and made anew", async () => {
  secretKey = makeSealingKey();
  pebble.requests.length = 0;
  await using lost = await open();
  found = lost;
  expect(lost.kept.certificates.current).toBeNull();
  await lost.kept.rest();
  expect(lost.kept.certificates.current).not.toBeNull();
  expect(orders()).toBe(1);
  const [told] = lost.kept.log.events;
  expect(told?.fields["reason"]).toBe("it was sealed with another COMPANIOND_SECRET_KEY");
});
