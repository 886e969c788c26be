/** The storage of backups on S3: its contract, lines that break, and what its refusals say. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { StorageLocation } from "../../src/contracts/backup-storage.ts";
import { createS3, type S3Timing } from "../../src/engines/s3/s3.ts";
import { pieces, testBackupStorageContract } from "../contracts/backup-storage.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { startS3, type TestS3 } from "../support/s3.ts";

const quick: Partial<S3Timing> = { pauseMs: 30 };

testBackupStorageContract("S3", async () => {
  const s3 = await startS3();
  return {
    storage: createS3(s3.place, quick),
    findLeft: () => findKept(s3),
    [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
  };
});

/** Uploads in parts that were neither completed nor given up. s3rver knows no giving up: that it was asked to is enough. */
function findKept({ directory, requests }: TestS3): string[] {
  const parts = join(directory, "._S3rver_uploads");
  const kept = existsSync(parts) ? readdirSync(parts) : [];
  return kept.filter((id) => !requests.some((one) => one.startsWith("DELETE ") && one.includes(`uploadId=${id}`)));
}

interface Line extends AsyncDisposable {
  s3: TestS3;
  proxy: FaultProxy;
  open(timing?: Partial<S3Timing>): ReturnType<typeof createS3>;
}

/** An S3 behind a line that can be disturbed. */
async function startLine(): Promise<Line> {
  const s3 = await startS3();
  const proxy = await startFaultProxy(s3.port);
  return {
    s3,
    proxy,
    open: (timing = {}) =>
      createS3({ ...s3.place, endpoint: `http://127.0.0.1:${proxy.port}` }, { ...quick, ...timing }),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await s3[Symbol.asyncDispose]();
    },
  };
}

test("a line that is cut in the middle of an upload and of a download delays them", async () => {
  await using line = await startLine();
  const storage = line.open();
  const bytes = 20 * 1024 * 1024;
  let cuts = 0;
  async function* cutting() {
    let at = 0;
    for await (const piece of pieces(bytes)) {
      yield piece;
      at += piece.length;
      if (at % (9 * 1024 * 1024) !== 0) continue;
      line.proxy.cut();
      cuts++;
    }
  }
  await storage.put("companiond-a", cutting(), { maxBytes: bytes });
  expect(cuts).toBe(2);
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of storage.get("companiond-a", bytes)) {
    hasher.update(piece);
    line.proxy.cut();
  }
  const expected = new Bun.CryptoHasher("sha256");
  for await (const piece of pieces(bytes)) expected.update(piece);
  expect(hasher.digest("hex")).toBe(expected.digest("hex"));
  expect(findKept(line.s3)).toEqual([]);
});

test("a line that stays away fails an upload, and what came before it can be had once it is back", async () => {
  await using line = await startLine();
  const storage = line.open();
  await storage.put("companiond-a", pieces(1000), { maxBytes: 1000 });
  async function* leaving() {
    yield* pieces(10 * 1024 * 1024);
    await line.proxy.set("refuse");
    line.proxy.cut();
    yield* pieces(10 * 1024 * 1024);
  }
  await expect(storage.put("companiond-b", leaving(), { maxBytes: 1 })).rejects.toMatchObject({
    isPassing: true,
    message: expect.stringMatching(/COMPANIOND_BACKUP_S3_ENDPOINT|broke off/),
  });
  await expect(storage.list("companiond-")).rejects.toThrow("Nothing listens at the address of the storage");
  await line.proxy.set("pass");
  expect((await storage.list("companiond-")).map(({ name }) => name)).toEqual(["companiond-a"]);
});

test("a storage that does not answer is not waited for without end", async () => {
  await using line = await startLine();
  await line.proxy.set("swallow");
  const storage = line.open({ requestMs: 20, partMs: 40, pauseMs: 1 });
  await expect(storage.list("companiond-")).rejects.toThrow("did not answer within 0.02 s");
  await expect(storage.put("companiond-a", pieces(1000), { maxBytes: 1000 })).rejects.toThrow("within 0.04 s");
});

test("a list of more objects than one answer holds is read to its end", async () => {
  const asked: string[] = [];
  const pages = [["companiond-1", "companiond-2"], ["companiond-3"]];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { searchParams } = new URL(url);
      const page = Number(searchParams.get("continuation-token") ?? 0);
      asked.push(`${searchParams.get("prefix")} ${page}`);
      const keys = (pages[page] ?? []).map((key) => `<Contents><Key>p/${key}</Key><Size>1</Size></Contents>`);
      const more = page + 1 < pages.length;
      const next = more ? `<NextContinuationToken>${page + 1}</NextContinuationToken>` : "";
      return new Response(
        `<ListBucketResult><Name>b</Name><IsTruncated>${more}</IsTruncated>${next}${keys.join("")}</ListBucketResult>`,
        { headers: { "content-type": "application/xml" } },
      );
    },
  });
  const listed = await createS3(at(server.url.origin), quick).list("companiond-");
  expect(listed.map(({ name }) => name)).toEqual(["companiond-1", "companiond-2", "companiond-3"]);
  expect(asked).toEqual(["p/companiond- 0", "p/companiond- 1"]);
});

test.each([
  [
    "a list that never ends",
    "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
    "does not end",
  ],
  ["a page of another kind", "<html></html>", "does not speak S3"],
])("refuses %s", async (_, answer, sentence) => {
  let asked = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked++;
      return new Response(answer, { headers: { "content-type": "application/xml" } });
    },
  });
  await expect(createS3(at(server.url.origin), quick).list("companiond-")).rejects.toThrow(sentence);
  expect(asked).toBeLessThan(3);
});

const secret = "the-secret-itself";

function at(endpoint: string): StorageLocation {
  return { endpoint, region: null, bucket: "b", prefix: "p/", keyId: "the-key-id", secret };
}

test.each([
  [403, "InvalidAccessKeyId", "Check COMPANIOND_BACKUP_S3_KEY_ID."],
  [403, "SignatureDoesNotMatch", "Check COMPANIOND_BACKUP_S3_SECRET."],
  [403, "AccessDenied", "It needs the rights to list the bucket"],
  [403, "RequestTimeTooSkewed", "Set this machine's clock"],
  [404, "NoSuchBucket", "There is no such bucket."],
  [400, "AuthorizationHeaderMalformed", "Set COMPANIOND_BACKUP_S3_REGION to it."],
  [301, "PermanentRedirect", "Set COMPANIOND_BACKUP_S3_ENDPOINT to the address of the storage itself"],
  [503, "SlowDown", "did not answer, or broke off (SlowDown)"],
  [418, "Teapot", "The storage refuses it (Teapot)"],
])("says what to do about %d %s, without the keys", async (status, code, sentence) => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        `<?xml version="1.0"?><Error><Code>${code}</Code><Message>the-key-id and ${secret}</Message></Error>`,
        { status, headers: { "content-type": "application/xml" } },
      ),
  });
  const storage = createS3(at(server.url.origin), { pauseMs: 1 });
  const listing = await storage.list("companiond-").catch((error: unknown) => error);
  const putting = await storage.put("x", pieces(10), { maxBytes: 10 }).catch((error: unknown) => error);
  for (const error of [listing, putting]) {
    expect(String(error)).toContain(sentence);
    expect(Bun.inspect(error)).not.toMatch(/the-key-id|the-secret-itself|Signature=/);
  }
});

test("says of a refusal without a body what it may be, and of a certificate that it is not trusted", async () => {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 403 }) });
  await expect(createS3(at(server.url.origin), quick).find("x")).rejects.toThrow(
    "Check that the access key may list, get, put and delete",
  );
  const fixtures = join(import.meta.dir, "../fixtures/tls");
  using secure = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(join(fixtures, "one.cert.pem")), key: Bun.file(join(fixtures, "one.key.pem")) },
    fetch: () => new Response(),
  });
  await expect(createS3(at(secure.url.origin), quick).list("x")).rejects.toThrow("certificate cannot be trusted");
  await expect(createS3(at(`https://127.0.0.1:${server.port}`), quick).list("x")).rejects.toThrow("does not speak TLS");
  await expect(createS3(at("http://storage.invalid"), { pauseMs: 1 }).list("x")).rejects.toThrow("not known to DNS");
});
