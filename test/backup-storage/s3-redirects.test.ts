/** A storage that redirects: nothing goes to where it points, and the failure says what to set. */
import { expect, test } from "bun:test";
import { createS3 } from "../../src/engines/s3/s3.ts";
import { pieces } from "../contracts/backup-storage.ts";

const mebibyte = 1024 * 1024;

/** Redirects what `isRedirected` says to `location`; has an upload in parts begin. */
function startRedirecting(
  location: string,
  more: Record<string, string> = {},
  status = 307,
  isRedirected = () => true,
) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ method, url }) {
      if (method === "POST" && !isRedirected()) {
        return new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
      }
      return new Response(null, { status, headers: { location: new URL(location, url).href, ...more } });
    },
  });
}

function startTarget() {
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ method, url, headers }) {
      seen.push(`${method} ${url} ${headers.get("authorization")}`);
      return new Response("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", {
        headers: { etag: '"e"', "last-modified": new Date().toUTCString() },
      });
    },
  });
  return { server, seen };
}

const openAt = (endpoint: string) =>
  createS3(
    { endpoint, region: null, bucket: "b", prefix: "p/", keyId: "the-key-id", secret: "the-secret" },
    { pauseMs: 1 },
  );

test.each([301, 302, 303, 307, 308])("a redirect with %d is followed by no request, and named", async (status) => {
  const { server: target, seen } = startTarget();
  await using _ = target;
  await using server = startRedirecting(target.url.origin, {}, status);
  const storage = openAt(server.url.origin);
  const failures = await Promise.all(
    [
      storage.list(""),
      storage.find("x"),
      storage.remove("x"),
      storage.get("x", 10)[Symbol.asyncIterator]().next(),
      storage.put("x", pieces(10), { maxBytes: 10 }),
      storage.put("x", pieces(20 * mebibyte), { maxBytes: 20 * mebibyte }),
    ].map((work: Promise<unknown>) => work.then(() => "none", String)),
  );
  for (const failure of failures) {
    expect(failure).toContain(`redirects (${status}) to ${target.url.origin}`);
    expect(failure).toContain("COMPANIOND_BACKUP_S3_ENDPOINT");
  }
  expect(seen).toEqual([]);
});

test("a redirect of an upload's parts sends none of them elsewhere", async () => {
  const { server: target, seen } = startTarget();
  await using _ = target;
  await using server = startRedirecting(target.url.origin, {}, 307, () => false);
  const putting = openAt(server.url.origin).put("x", pieces(20 * mebibyte), { maxBytes: 20 * mebibyte });
  await expect(putting).rejects.toThrow(`redirects (307) to ${target.url.origin}`);
  expect(seen).toEqual([]);
});

test("a redirect to the bucket's region names the region", async () => {
  await using server = startRedirecting(
    "https://s3.eu-none-1.example.com/b",
    { "x-amz-bucket-region": "eu-none-1" },
    301,
  );
  await expect(openAt(server.url.origin).find("x")).rejects.toThrow("Set COMPANIOND_BACKUP_S3_REGION to eu-none-1.");
});
