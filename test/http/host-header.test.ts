/** What clients claim to call this server: a host that is none is refused, before anything is made of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { connectRaw } from "../support/raw-visitor.ts";

let server: TestServer;
let token: string;
let key: string;

beforeAll(async () => {
  server = await startTestServer();
  const account = await server.createAccount();
  key = (await server.createKey(account)).key;
  token = (await server.createCompanion({}, account)).embedToken;
});
afterAll(() => server.close());

async function ask(path: string, host: string): Promise<string> {
  const visitor = await connectRaw(server.url);
  visitor.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
  return visitor.closed;
}

const hosts = ["}", "\xe0\xe0", "a b", "a/b", "a?b", "a#b", "a@b", "<a>", "[::1", "xn--a", "1.2.3.4.5", "a:99999", ""];

test.each(hosts)("refuses every request for the host %j", async (host) => {
  // The last of them is what a router that looks for the path behind a host would take for `/api/keys`.
  for (const path of ["/api/companions?limit=1", `/c/${token}`, `/api/embed/${token}`, "/", "/nothing-here/api/keys"]) {
    const response = await ask(path, host);
    expect(response).toStartWith("HTTP/1.1 400 ");
    expect(response).toContain('"code":"invalid_request"');
  }
});

test.each(["localhost", "shop.example:8080", "[::1]:3000", "127.0.0.1", "a_b.example", "A.Example"])(
  "answers for the host %j",
  async (host) => {
    for (const path of ["/api/companions?limit=1", `/c/${token}`, `/api/embed/${token}`]) {
      expect(await ask(path, host)).toStartWith("HTTP/1.1 200 ");
    }
  },
);
