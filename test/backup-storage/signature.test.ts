/** Signatures of requests to S3: AWS's own examples, and a check that Bun's client passes as well. */
import { expect, test } from "bun:test";
import { createS3 } from "../../src/engines/s3/s3.ts";
import { encodePath, encodeQuery, signRequest } from "../../src/engines/s3/s3-requests.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { pieces } from "../contracts/backup-storage.ts";
import { type ArrivedRequest, findSignatureFault } from "../support/s3-signatures.ts";

// Amazon S3 API Reference, "Signature Calculations for the Authorization Header": its four examples.
const example = {
  keyId: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};

interface Example {
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

const examples: [what: string, request: Example, signature: string][] = [
  [
    "GET an object",
    { method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" } },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "PUT an object",
    {
      method: "PUT",
      path: "/test$file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      body: "Welcome to Amazon S3.",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "GET a bucket's lifecycle",
    { method: "GET", path: "/", query: { lifecycle: "" } },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "list objects",
    { method: "GET", path: "/", query: { prefix: "J", "max-keys": "2" } },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
];

test.each(examples)("signs as AWS does: %s", (_, { method, path, query = {}, headers = {}, body = "" }, signature) => {
  const signed = signRequest(
    {
      method,
      host: "examplebucket.s3.amazonaws.com",
      path: encodePath(path),
      query: encodeQuery(query),
      headers,
      bodySha256: sha256Hex(body),
    },
    example,
    Date.UTC(2013, 4, 24),
  );
  expect(signed["authorization"]).toStartWith(
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=",
  );
  expect(signed["authorization"]).toEndWith(`, Signature=${signature}`);
});

const place = {
  region: "eu-none-1",
  bucket: "b-1",
  prefix: "a (b)/ü+&=~*'!/",
  keyId: "the-key-id",
  secret: "s3cret/+",
};

/** Answers what every request needs; notes the requests. */
function startNoting(uploadId: string) {
  const arrived: ArrivedRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, url } = request;
      const target = url.slice(new URL(url).origin.length);
      arrived.push({ method, target, headers: new Map(request.headers), body: await request.bytes() });
      const root = target.includes("uploads=")
        ? "InitiateMultipartUploadResult"
        : target.includes("list-type")
          ? "ListBucketResult"
          : "CompleteMultipartUploadResult";
      const content =
        method === "GET" && root !== "ListBucketResult"
          ? "12345"
          : `<${root}><UploadId>${uploadId}</UploadId></${root}>`;
      return new Response(content, { headers: { etag: '"e"', "last-modified": new Date().toUTCString() } });
    },
  });
  return { server, arrived };
}

test("what every request says is signed, also of names that have to be encoded; nothing that was changed passes", async () => {
  const { server, arrived } = startNoting("u+/=");
  await using _ = server;
  const endpoint = `${server.url.origin}/base`;
  const storage = createS3({ ...place, endpoint }, { pauseMs: 1 });
  const bytes = 9 * 1024 * 1024;
  await storage.list("companiond-");
  await storage.find("x");
  await storage.put("x", pieces(5), { maxBytes: 5 });
  await storage.put("x", pieces(bytes), { maxBytes: bytes });
  for await (const piece of storage.get("x", 5)) expect(piece.length).toBe(5);
  await storage.remove("x");
  expect(
    arrived
      .map(({ method }) => method)
      .sort()
      .join(" "),
  ).toBe("DELETE GET GET HEAD POST POST PUT PUT PUT");
  for (const one of arrived) {
    expect([one.target, findSignatureFault(one, place)]).toEqual([one.target, null]);
    expect(one.target).toStartWith("/base/b-1");
    expect(findSignatureFault(one, { ...place, secret: "another" })).toBe("signature");
    expect(findSignatureFault({ ...one, body: Buffer.from("other") }, place)).toBe("body");
    expect(findSignatureFault({ ...one, method: "PATCH" }, place)).toBe("signature");
    expect(findSignatureFault({ ...one, target: `${one.target}0` }, place)).toBe("signature");
    for (const name of ["host", "x-amz-date", "x-amz-content-sha256", "content-md5", "content-type", "range"]) {
      if (!one.headers.has(name)) continue;
      const changed = new Map(one.headers).set(name, `${one.headers.get(name)}0`);
      expect(findSignatureFault({ ...one, headers: changed }, place)).not.toBeNull();
    }
  }
});

test("the check of these tests passes requests of Bun's client, which is by others", async () => {
  // Another id for its upload in parts: it leaves those that have to be encoded as they are.
  const { server, arrived } = startNoting("u-1");
  await using _ = server;
  const { keyId: accessKeyId, secret: secretAccessKey, region, bucket, prefix } = place;
  const client = new Bun.S3Client({ endpoint: server.url.origin, region, bucket, accessKeyId, secretAccessKey });
  const unmeasured = new Blob([new Uint8Array(6 * 1024 * 1024)]).stream().pipeThrough(new TransformStream());
  await client.list({ prefix: `${prefix}companiond-`, continuationToken: "t+/=" });
  await client.stat(`${prefix}x`);
  await client.write(`${prefix}x`, "12345", { type: "application/octet-stream" });
  await client.write(`${prefix}x`, new Response(unmeasured));
  await client.file(`${prefix}x`).slice(0, 5).bytes();
  await client.delete(`${prefix}x`);
  expect(arrived.length).toBeGreaterThan(6);
  for (const one of arrived) expect([one.target, findSignatureFault(one, place)]).toEqual([one.target, null]);
});
