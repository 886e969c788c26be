/** Uploaded avatars, and the websites on which a companion was seen, as whole requests. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { imageOf, makePng } from "../support/images.ts";

let server: TestServer;
let api: ApiClient;
const visitor = () => apiClient(server.url, null);
beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_PUBLIC_URL: "https://chat.example" } });
});
afterAll(() => server.close());
beforeEach(async () => {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@example.com` });
  api = apiClient(server.url, (await server.createKey(account)).key);
});

interface Shown {
  avatar: { url: string; bytes: number } | null;
  seen_on: { origin: string }[];
}

async function make() {
  const { id, embed_token: token } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const path = `/api/companions/${id}`;
  const read = async () => {
    const { json, headers } = await api.call("GET", path);
    return { ...(json as unknown as Shown), etag: headers.get("etag") ?? "" };
  };
  const config = async (origin = "https://shop.example") =>
    (await visitor().call("GET", `/api/embed/${token}`, undefined, { origin })).json;
  return {
    path,
    token,
    read,
    config,
    put: (body: Blob, headers = {}) => api.call("PUT", `${path}/avatar`, body, headers),
  };
}

/** A JPEG that says where it was taken. */
async function makeJpeg(): Promise<Blob> {
  const plain = Buffer.from(await new Bun.Image(makePng(1200, 300)).jpeg().bytes());
  const told = Buffer.from("Exif\0\0taken at home");
  const size = Buffer.alloc(2);
  size.writeUInt16BE(told.length + 2);
  const whole = Buffer.concat([plain.subarray(0, 2), Buffer.from([0xff, 0xe1]), size, told, plain.subarray(2)]);
  return imageOf(new Uint8Array(whole), "image/jpeg");
}

test("an uploaded image is made small and plain, shown under an address of its own, and gone when it is taken away", async () => {
  const { path, token, read, config, put } = await make();
  const before = await read();
  expect(before.avatar).toBeNull();
  const sent = await put(await makeJpeg());
  expect(sent.status).toBe(200);
  const { avatar, etag } = await read();
  expect(sent.headers.get("etag")).toBe(etag);
  expect(etag).not.toBe(before.etag);
  expect((await config())["avatar_url"]).toBe(`https://chat.example${avatar?.url}`);
  const image = await fetch(server.url + avatar?.url);
  const bytes = Buffer.from(await image.arrayBuffer());
  expect(bytes.length).toBe(avatar?.bytes ?? 0);
  expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 512, height: 128, format: "webp" });
  expect(bytes.includes("taken at home")).toBe(false);
  expect(Object.fromEntries(image.headers)).toMatchObject({
    "content-type": "image/webp",
    "cache-control": "public, max-age=31536000, immutable",
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
  });
  const page = (await visitor().call("GET", `/c/${token}`)).text;
  expect(page).toContain(`<link rel="icon" href="${avatar?.url}">`);
  // Neither copies nor versions have it.
  expect((await api.call("GET", `${path}/versions`)).json.data).toHaveLength(1);
  await api.call("PATCH", path, { avatar_url: "https://cdn.example/a.png" });
  expect((await config())["avatar_url"]).toBe("https://cdn.example/a.png");
  expect((await api.call("DELETE", `${path}/avatar`)).status).toBe(204);
  expect((await api.call("DELETE", `${path}/avatar`)).status).toBe(204);
  expect((await read()).avatar).toBeNull();
  expect((await fetch(server.url + avatar?.url)).status).toBe(404);
});

test("what is no image that it takes is refused with its reason, and the avatar stays", async () => {
  const { path, read, put } = await make();
  await put(imageOf(makePng(20, 10)));
  const { avatar, etag } = await read();
  const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
  const gif = new Uint8Array(Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"));
  const whole = makePng(40, 40);
  const refused: [Blob, number][] = [
    ...([imageOf(svg, "image/svg+xml"), imageOf(svg), imageOf(gif), imageOf("{}", "application/json")] as const).map(
      (sent): [Blob, number] => [sent, 415],
    ),
    [imageOf(""), 415],
    [imageOf(whole.slice(0, whole.length - 40)), 400],
    [imageOf(makePng(60_000, 60_000, 1)), 413],
    [imageOf(new Uint8Array(2 * 1024 * 1024 + 1)), 413],
  ];
  const codes = { 400: "invalid_request", 413: "payload_too_large", 415: "unsupported_media_type" } as const;
  for (const [sent, status] of refused) expectProblem(await put(sent), status, codes[status as 400]);
  expectProblem(await put(imageOf(whole), { "if-match": '"old"' }), 412, "precondition_failed");
  expect((await read()).avatar).toEqual(avatar);
  expect((await put(imageOf(whole), { "if-match": etag })).status).toBe(200);
  expectProblem(
    await api.call("PUT", `/api/companions/${crypto.randomUUID()}/avatar`, imageOf(whole)),
    404,
    "not_found",
  );
  const other = await server.createKey(await server.createAccount({ email: `${crypto.randomUUID()}@example.com` }));
  const stranger = apiClient(server.url, other.key);
  expectProblem(await stranger.call("PUT", `${path}/avatar`, imageOf(whole)), 404, "not_found");
  expectProblem(await stranger.call("DELETE", `${path}/avatar`), 404, "not_found");
});

test("a companion shows the websites that loaded it, and its version is the same", async () => {
  const { path, read, config } = await make();
  const { etag } = await read();
  await config("https://shop.example");
  await config("https://chat.example");
  await config("null");
  await server.services.uses.flush();
  const seen = await read();
  const at = expect.stringMatching(/Z$/);
  expect<unknown>(seen.seen_on).toEqual([{ origin: "https://shop.example", first_seen_at: at, last_seen_at: at }]);
  expect(seen.etag).toBe(etag);
  const patched = await api.call("PATCH", path, { ...seen, etag: undefined, name: "Bob" }, { "if-match": etag });
  expect(patched.status).toBe(200);
});

test("a server that does not know its address gives websites the image itself", async () => {
  const plain = await startTestServer();
  try {
    const account = await plain.createAccount();
    const own = apiClient(plain.url, (await plain.createKey(account)).key);
    const { id, embed_token: token } = (await own.call("POST", "/api/companions", { name: "Ada" })).json;
    await own.call("PUT", `/api/companions/${id}/avatar`, imageOf(makePng(4, 4)));
    // Behind another name, which any client could have sent.
    const config = await apiClient(plain.url, null).call("GET", `/api/embed/${token}`, undefined, {
      host: "a.example",
    });
    expect(config.json["avatar_url"]).toStartWith("data:image/webp;base64,");
  } finally {
    await plain.close();
  }
});
