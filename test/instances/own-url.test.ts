import { expect, test } from "bun:test";
import { ownUrlOf } from "../../src/core/instances/own-url.ts";

const machine = [
  { address: "127.0.0.1", family: "IPv4", internal: true },
  { address: "::1", family: "IPv6", internal: true },
  { address: "169.254.7.7", family: "IPv4", internal: false },
  { address: "fe80::1", family: "IPv6", internal: false },
  { address: "2001:db8::7", family: "IPv6", internal: false },
  { address: "10.0.0.11", family: "IPv4", internal: false },
] as const;

const onIpv6 = machine.filter(({ family }) => family === "IPv6");
const onLoopback = machine.filter(({ internal }) => internal);

test.each([
  ["127.0.0.1", machine, "http://127.0.0.1:3000"],
  ["chat-1.internal", machine, "http://chat-1.internal:3000"],
  ["2001:db8::9", machine, "http://[2001:db8::9]:3000"],
  ["0.0.0.0", machine, "http://10.0.0.11:3000"],
  ["::", machine, "http://10.0.0.11:3000"],
  ["::", onIpv6, "http://[2001:db8::7]:3000"],
  ["0.0.0.0", onIpv6, "http://127.0.0.1:3000"],
  ["0.0.0.0", onLoopback, "http://127.0.0.1:3000"],
  ["0.0.0.0", null, "http://127.0.0.1:3000"],
] as const)("a server on %s is reached where others can reach the machine", (host, addresses, url) => {
  expect(ownUrlOf({ host, port: 3000, isTls: false }, () => addresses && [...addresses])).toBe(url);
});

test("with TLS it is https, and the usual port goes without saying", () => {
  expect(ownUrlOf({ host: "10.0.0.1", port: 8443, isTls: true })).toBe("https://10.0.0.1:8443");
  expect(ownUrlOf({ host: "10.0.0.1", port: 443, isTls: true })).toBe("https://10.0.0.1");
});
