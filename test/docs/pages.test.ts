/** The documentation's pages, as a browser gets them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiOperations } from "../../src/api-operations.ts";
import { errorCodes } from "../../src/domain/errors.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { connectRaw } from "../support/raw-visitor.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test.each(["/docs", "/docs/errors"])("%s runs no script and loads nothing from elsewhere", async (path) => {
  const response = await fetch(server.url + path);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page).not.toMatch(/<script|<link|<img|\bsrc=|\bon\w+=|\bstyle=/i);

  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toContain("unsafe");
  const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? "";
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`);
});

test("/docs shows every call under an anchor of its own", async () => {
  const page = await (await fetch(`${server.url}/docs`)).text();
  for (const { id, path } of apiOperations) {
    expect(page).toContain(`<section id="${id}">`);
    expect(page).toContain(`<code>${path}</code>`);
  }
  const anchors = [...page.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(new Set(anchors).size).toBe(anchors.length);
  for (const [, target = ""] of page.matchAll(/href="#([^"]+)"/g)) expect(anchors).toContain(target);
});

test("/docs/errors explains every code under the anchor that problems link to", async () => {
  const page = await (await fetch(`${server.url}/docs/errors`)).text();
  const sections = [...page.matchAll(/<section id="(\w+)">/g)].map(([, code = ""]) => code);
  expect(sections.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
});

test("a host that no server has is refused, and not shown", async () => {
  // By a plain socket: the answer is the program's, not the page's, and so not in the page's description.
  const visitor = await connectRaw(server.url);
  visitor.write('GET /docs HTTP/1.1\r\nHost: "><script>alert(1)</script>\r\nConnection: close\r\n\r\n');
  const received = await visitor.closed;
  expect(received).toStartWith("HTTP/1.1 400");
  expect(received).not.toContain("<script");
});
