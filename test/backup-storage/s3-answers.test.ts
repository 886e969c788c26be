/** Answers of S3 that are too long, late, lost or wrong, and how uploads in parts go on after them. */
import { afterEach, expect, test } from "bun:test";
import { createS3 } from "../../src/engines/s3/s3.ts";
import { pieces } from "../contracts/backup-storage.ts";

const mebibyte = 1024 * 1024;
const partBytes = 8 * mebibyte;
let server: Bun.Server<undefined>;
afterEach(() => server.stop(true));

/** What is asked for, as `PUT 2`: the method, and the part's number or the name of the subresource. */
type Answers = (asked: string, request: Request) => Response | null | Promise<Response | null>;

/** An S3 that takes everything, but for what `answer` does not return null for. */
function start(answer: Answers = () => null) {
  const asked: string[] = [];
  const document = (name: string, content = "") => new Response(`<${name}>${content}</${name}>`);
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 64 * mebibyte,
    async fetch(request) {
      const { method, url } = request;
      const { searchParams } = new URL(url);
      const one = `${method} ${searchParams.get("partNumber") ?? [...searchParams.keys()].join()}`.trim();
      asked.push(one);
      const other = await answer(one, request);
      if (other !== null) return other;
      await request.bytes();
      if (one === "POST uploads") return document("InitiateMultipartUploadResult", "<UploadId>u</UploadId>");
      if (one === "POST uploadId") return document("CompleteMultipartUploadResult");
      return new Response(null, { headers: { etag: `"${one}"` } });
    },
  });
  const place = { endpoint: server.url.origin, region: null, bucket: "b", prefix: "p/", keyId: "k", secret: "s" };
  return { storage: createS3(place, { pauseMs: 1 }), asked };
}

const refusal = (code: string, status: number) => new Response(`<Error><Code>${code}</Code></Error>`, { status });
const put = (storage: ReturnType<typeof createS3>, bytes: number) =>
  storage.put("x", pieces(bytes), { maxBytes: bytes });

/** Of content without an end. */
function endless(headers = {}): Response {
  const piece = new Uint8Array(mebibyte).fill(32);
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
  return new Response(body, { headers });
}

test("no answer is read beyond what it may have: lists, errors, and pieces of an object", async () => {
  for (const status of [200, 403, 307]) {
    const { storage } = start(() => new Response(endless().body, { status }));
    await expect(storage.list("")).rejects.toThrow("The storage answers with more than it was asked for.");
    await server.stop(true);
  }
  const { storage } = start(() => new Response("123456"));
  await expect(Array.fromAsync(storage.get("x", 5))).rejects.toThrow("more than it was asked for");
});

test("an answer that came compressed, unasked for, is not unpacked", async () => {
  const list = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
  const { storage } = start(() => new Response(Bun.gzipSync(list), { headers: { "content-encoding": "gzip" } }));
  await expect(storage.list("")).rejects.toThrow("does not speak S3");
});

test("a part that fails in passing is sent again, as is what puts them together, also where 200 says so", async () => {
  const failed = new Set<string>();
  const { storage, asked } = start((one) => {
    if (one === "POST uploads" || failed.has(one)) return null;
    failed.add(one);
    return one === "POST uploadId" ? refusal("InternalError", 200) : refusal("SlowDown", 503);
  });
  await put(storage, partBytes + 1);
  const twice = ["PUT 1", "PUT 1", "PUT 2", "PUT 2"];
  expect(asked.toSorted()).toEqual(["POST uploadId", "POST uploadId", "POST uploads", ...twice]);
});

test("an upload whose completion was answered, but not heard, is complete if all of it is there", async () => {
  for (const [there, isComplete] of [
    [partBytes + 1, true],
    [partBytes, false],
  ] as const) {
    const tries: string[] = [];
    const { storage, asked } = start((one) => {
      if (one === "HEAD") return new Response(null, { headers: { "content-length": String(there) } });
      if (one !== "POST uploadId") return null;
      tries.push(one);
      return tries.length === 1 ? refusal("InternalError", 500) : refusal("NoSuchUpload", 404);
    });
    const putting = put(storage, partBytes + 1);
    if (isComplete) await putting;
    else await expect(putting).rejects.toThrow("NoSuchUpload");
    expect(asked.at(-1)).toBe(isComplete ? "HEAD" : "DELETE uploadId");
    await server.stop(true);
  }
});

test.each<[what: string, answer: Answers, sentence: string]>([
  ["a part is refused", (one) => (one === "PUT 2" ? refusal("EntityTooLarge", 400) : null), "objects of this size"],
  ["a part has no tag", (one) => (one === "PUT 1" ? new Response() : null), "does not speak S3"],
  ["the parts do not fit", (one) => (one === "POST uploadId" ? refusal("InvalidPart", 400) : null), "InvalidPart"],
  ["200 says that they do not", (one) => (one === "POST uploadId" ? refusal("InvalidPart", 200) : null), "InvalidPart"],
])("gives the upload up where %s", async (_, answer, sentence) => {
  const { storage, asked } = start(answer);
  await expect(put(storage, 3 * partBytes)).rejects.toThrow(sentence);
  expect(asked.at(-1)).toBe("DELETE uploadId");
});

test("holds a few parts of what it sends, however slowly they are taken", async () => {
  let [read, taken, most] = [0, 0, 0];
  const { storage } = start(async (one, request) => {
    if (!/^PUT \d/.test(one)) return null;
    // The last one that may be read before one is taken.
    while (read - taken < 3 * partBytes && read < 10 * partBytes) await Bun.sleep(1);
    const { length } = await request.bytes();
    taken += length;
    return new Response(null, { headers: { etag: '"e"' } });
  });
  async function* content() {
    for await (const piece of pieces(10 * partBytes)) {
      read += piece.length;
      most = Math.max(most, read - taken);
      yield piece;
    }
  }
  await storage.put("x", content(), { maxBytes: 10 * partBytes });
  expect(taken).toBe(10 * partBytes);
  expect(most).toBeLessThanOrEqual(3 * partBytes + 65_536);
});
