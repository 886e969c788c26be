/** Failures outside of the API: a page for browsers, problem details for everything else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prefers } from "../../src/http/compression.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function ask(path: string, accept: string | null, method = "GET"): Promise<Response> {
  return fetch(server.url + path, { method, headers: accept === null ? {} : { accept } });
}

test.each([
  ["/nope", "GET", 404],
  ["/docs/nope", "GET", 404],
  ["/assets/nope.js", "GET", 404],
  ["/metrics", "GET", 404],
  ["/v2/nope", "GET", 404],
  ["/apiary", "GET", 404],
  ["/docs", "POST", 405],
])("%s is a page for a browser, and a problem for a program, of one status", async (path, method, status) => {
  const page = await ask(path, browser, method);
  const text = await page.text();
  expect(page.status).toBe(status);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("vary")?.split(", ")).toContain("Accept");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(text).not.toMatch(/<script|\bon\w+=|\bstyle=/i);
  const policy = page.headers.get("content-security-policy") ?? "";
  const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? "";
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toMatch(/unsafe|script-src/);
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`);
  expect(policy).toContain("frame-ancestors 'none'");

  for (const accept of [null, "*/*", "application/json, text/html;q=0.9"]) {
    const problem = await ask(path, accept, method);
    expect(problem.status).toBe(status);
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
    expect(problem.headers.get("vary")?.split(", ")).toContain("Accept");
    expect(problem.headers.get("allow")).toBe(page.headers.get("allow"));
  }
});

test.each(["/api/nope", "/api/companions", "//api/nope", "/v1/nope", "/api", "/v1"])(
  "%s stays a problem for everybody",
  async (path) => {
    const response = await ask(path, browser);
    expect(response.status).toBeGreaterThanOrEqual(401);
    const isOpenAi = path.startsWith("/v1");
    expect(response.headers.get("content-type")).toBe(isOpenAi ? "application/json" : "application/problem+json");
  },
);

test("shows the path to nobody, and no request id but for what is ours", async () => {
  const response = await ask("/nope/%3Cscript%3Ealert(1)%3C/script%3E", browser);
  const text = await response.text();
  expect(text).not.toContain("alert");
  expect(text).not.toContain("Request id");
});

describe("an Accept header", () => {
  test.each<[string, boolean]>([
    [browser, true],
    ["text/html", true],
    ["TEXT/HTML;Q=0.5", true],
    ["text/*", true],
    ["text/html;q=0", false],
    ["text/html;q=0.5, */*;q=0.8", false],
    ["text/html, application/json", false],
    ["text/html, application/json;q=0.9", true],
    ["text/html;q=0.9, application/problem+json", false],
    ["text/*;q=0.9, text/html;q=0.1, application/*;q=0.5", false],
    ["text/html;level=1;q=0.4, application/*;q=0.3", true],
    ["text/html;q=abc", false],
    ["application/json", false],
    ["*/*", false],
    ["", false],
  ])("%j prefers HTML: %p", (accept, expected) => {
    expect(prefers(accept, "text/html", "application/problem+json", "application/json")).toBe(expected);
  });
});
