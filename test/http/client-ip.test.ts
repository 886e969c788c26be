import { describe, expect, test } from "bun:test";
import { clientIp, forwardedBase, toLogPrefix } from "../../src/http/client-ip.ts";

describe("the client's address", () => {
  test("is the socket's where no proxy is trusted, whatever the headers say", () => {
    expect(clientIp("203.0.113.7", null, 0).ip).toBe("203.0.113.7");
    expect(clientIp("203.0.113.7", "1.2.3.4", 0).ip).toBe("203.0.113.7");
    expect(clientIp("10.0.0.1", "1.2.3.4", 0).ip).toBe("10.0.0.1");
  });

  test("is the entry that the trusted proxies vouch for, counted from the right", () => {
    const list = "198.51.100.1, 198.51.100.2, 198.51.100.3";
    expect(clientIp("10.0.0.1", list, 1).ip).toBe("198.51.100.3");
    expect(clientIp("10.0.0.1", list, 2).ip).toBe("198.51.100.2");
    expect(clientIp("10.0.0.1", list, 3).ip).toBe("198.51.100.1");
  });

  test.each([
    "6.6.6.6, ",
    "6.6.6.6,6.6.6.6,",
    ",,, ,",
    "garbage, [::1]:80, ",
    "unknown,",
    `${"7.7.7.7,".repeat(2000)}`,
    "\t,",
  ])("is the same whatever a client forges in front: %p", (forged) => {
    expect(clientIp("10.0.0.1", `${forged}198.51.100.9`, 1).ip).toBe("198.51.100.9");
    expect(clientIp("10.0.0.1", `${forged}198.51.100.9, 10.0.0.2`, 2).ip).toBe("198.51.100.9");
  });

  test("is the leftmost entry where there are fewer than proxies, and the socket's where there is none", () => {
    expect(clientIp("10.0.0.1", "198.51.100.9", 3).ip).toBe("198.51.100.9");
    for (const empty of [null, "", " ", ",", ", ,"]) expect(clientIp("10.0.0.1", empty, 1).ip).toBe("10.0.0.1");
  });

  test("is the nearest address to the right where the entry is none", () => {
    for (const bad of [
      "unknown",
      "_hidden",
      "1.2.3",
      "1.2.3.4.5",
      "[::1",
      "::1]",
      "1.2.3.4:",
      "1.2.3.4:x",
      "1.2.3.4:123456",
      '"1.2.3.4"',
      "a.example:80",
    ]) {
      expect(clientIp("10.0.0.1", `198.51.100.9, ${bad}`, 1).ip).toBe("10.0.0.1");
      expect(clientIp("10.0.0.1", `6.6.6.6, ${bad}, 10.0.0.2`, 2).ip).toBe("10.0.0.2");
      expect(clientIp("10.0.0.1", `198.51.100.9, ${bad}`, 2).ip).toBe("198.51.100.9");
    }
  });

  test.each([
    ["198.51.100.9:1234", "198.51.100.9"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[::ffff:198.51.100.9]:443", "198.51.100.9"],
    ["fe80::1%eth0", "fe80::1"],
    ["\t 2001:DB8::1 ", "2001:db8::1"],
  ])("is read with what proxies write around it: %p", (entry, expected) => {
    expect(clientIp("10.0.0.1", entry, 1).ip).toBe(expected);
  });

  test("is IPv4 where it is mapped into IPv6, at the socket and in the header", () => {
    for (const mapped of ["::ffff:198.51.100.9", "::FFFF:c633:6409"]) {
      const expected = { ip: "198.51.100.9", limitSubject: "198.51.100.9", logPrefix: "198.51.100.0/24" };
      expect(clientIp(mapped, null, 0)).toMatchObject(expected);
      expect(clientIp("::1", mapped, 1)).toMatchObject(expected);
    }
  });

  test("is limited by its /64 in IPv6, and logged by its /48", () => {
    const one = clientIp("2001:db8:aaaa:bbbb::1", null, 0);
    const other = clientIp("2001:db8:aaaa:bbbb:ffff:ffff:ffff:ffff", null, 0);
    const neighbour = clientIp("2001:db8:aaaa:bbbc::1", null, 0);
    expect(one.limitSubject).toBe("2001:db8:aaaa:bbbb::/64");
    expect(other.limitSubject).toBe(one.limitSubject);
    expect(neighbour.limitSubject).not.toBe(one.limitSubject);
    expect(one.logPrefix).toBe("2001:db8:aaaa::/48");
    expect(clientIp("2001:db8::1", null, 0).logPrefix).toBe("2001:db8::/48");
  });

  test("has networks around it in IPv6 alone: its /56 and its /48", () => {
    expect(clientIp("2001:db8:aaaa:bbbb::1", null, 0).networks).toEqual([
      "2001:db8:aaaa:bb00::/56",
      "2001:db8:aaaa::/48",
    ]);
    expect(clientIp("10.0.0.1", "2001:db8:0:1::1", 1).networks).toEqual(["2001:db8::/56", "2001:db8::/48"]);
    for (const address of ["198.51.100.9", "::ffff:198.51.100.9", null])
      expect(clientIp(address, null, 0).networks).toBeNull();
  });

  test("is unknown where there is no socket, and never fails", () => {
    for (const socket of [null, "", "/run/companiond.sock"]) {
      expect(clientIp(socket, null, 0)).toMatchObject({ ip: "unknown", limitSubject: "unknown", logPrefix: "unknown" });
      expect(clientIp(socket, "198.51.100.9", 1).ip).toBe("198.51.100.9");
    }
    expect(toLogPrefix("visitor's words")).toBe("unknown");
  });

  test("does not change with later requests", () => {
    const first = clientIp("198.51.100.9", null, 0);
    clientIp("2001:db8::1", "1.2.3.4", 1);
    expect(first).toMatchObject({ ip: "198.51.100.9", logPrefix: "198.51.100.0/24" });
  });

  test("reports an untrusted proxy by its loopback or private address", () => {
    for (const peer of ["127.0.0.1", "::1", "::ffff:10.1.2.3", "192.168.0.9", "fd00::1"]) {
      expect(clientIp(peer, "198.51.100.9", 0).isForwardedByUntrusted).toBe(true);
      expect(clientIp(peer, null, 0).isForwardedByUntrusted).toBe(false);
      expect(clientIp(peer, "198.51.100.9", 1).isForwardedByUntrusted).toBe(false);
    }
    expect(clientIp("203.0.113.7", "198.51.100.9", 0).isForwardedByUntrusted).toBe(false);
    expect(clientIp(null, "198.51.100.9", 0).isForwardedByUntrusted).toBe(false);
  });

  test("is right where a proxy adds a header line of its own instead of a list entry", async () => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => new Response(clientIp("127.0.0.1", request.headers.get("x-forwarded-for"), 1).ip),
    });
    const { promise: answered, resolve } = Promise.withResolvers<string>();
    let received = "";
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(server.port),
      socket: {
        data(_, bytes) {
          received += bytes.toString();
        },
        close: () => resolve(received),
      },
    });
    const lines = ["GET / HTTP/1.1", "Host: a", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 198.51.100.9"];
    socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
    expect(await answered).toEndWith("\r\n\r\n198.51.100.9");
    await server.stop(true);
  });
});

describe("protocol and host", () => {
  function baseOf(headers: Record<string, string>, trustedProxyCount: number, isTls = false): string {
    const { protocol, host } = forwardedBase(new Headers(headers), trustedProxyCount, isTls);
    return `${protocol}://${host}`;
  }

  const forwarded = { host: "127.0.0.1:3000", "x-forwarded-proto": "https", "x-forwarded-host": "chat.example" };

  test("are the request's own where no proxy is trusted", () => {
    expect(baseOf(forwarded, 0)).toBe("http://127.0.0.1:3000");
    expect(baseOf(forwarded, 0, true)).toBe("https://127.0.0.1:3000");
  });

  test("are those that a trusted proxy reports", () => {
    expect(baseOf(forwarded, 1)).toBe("https://chat.example");
    expect(baseOf({ ...forwarded, "x-forwarded-proto": "HTTP" }, 1, true)).toBe("http://chat.example");
    expect(baseOf({ host: "chat.example", "x-forwarded-proto": "https" }, 1)).toBe("https://chat.example");
    expect(baseOf({ host: "chat.example" }, 1)).toBe("http://chat.example");
  });

  test("are counted from the right in lists, so that what a client forges has no effect", () => {
    const lists = {
      host: "inner",
      "x-forwarded-proto": "ftp, https, http",
      "x-forwarded-host": "evil.example, a.example, b.example",
    };
    expect(baseOf(lists, 1)).toBe("http://b.example");
    expect(baseOf(lists, 2)).toBe("https://a.example");
  });

  test("leave out the protocol's own port and keep others, in lower case", () => {
    expect(baseOf({ host: "Chat.Example:443" }, 0, true)).toBe("https://chat.example");
    expect(baseOf({ host: "chat.example:80" }, 0)).toBe("http://chat.example");
    expect(baseOf({ host: "chat.example:8080" }, 0)).toBe("http://chat.example:8080");
    expect(baseOf({ host: "chat.example:80" }, 0, true)).toBe("https://chat.example:80");
    expect(baseOf({ host: "[::1]:3000" }, 0)).toBe("http://[::1]:3000");
  });

  test.each([
    "xn--a",
    "1.2.3.4.5",
    "a:99999",
    'a"b',
    "a/b",
    "a b",
    "a<b>",
    "user@a",
    "a:b",
    "a?b",
    "",
    "[a",
    "x".repeat(300),
  ])("never hold what no host holds: %p", (host) => {
    expect(baseOf({ host: "inner.example", "x-forwarded-host": host }, 1)).toBe("http://inner.example");
    expect(baseOf({ host }, 0)).toBe("http://localhost");
  });
});
