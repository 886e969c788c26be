/** Which addresses may be connected to: public ones, and the operator's exceptions. */
import { expect, test } from "bun:test";
import { type AllowedHost, parseAllowedHost, standingOf } from "../../src/lib/allowed-hosts.ts";

function allow(...texts: string[]): AllowedHost[] {
  return texts.map((text) => parseAllowedHost(text) ?? expect.unreachable(text));
}

function isAllowed(address: string, allowed: AllowedHost[] = [], host = "site.example", port = 80): boolean {
  return standingOf(allowed, { host, port, address }) !== "refused";
}

/** As many as an exception can open. */
const everything = allow("0.0.0.0/0", "::/0", "site.example");

test.each([
  "8.8.8.8",
  "192.0.1.1",
  "100.128.0.1",
  "172.32.0.1",
  "2606:4700::1111",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2002:808:808::1",
])("%s is public", (address) => {
  expect(isAllowed(address)).toBe(true);
});

test.each([
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "172.31.255.255",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "::1",
  "::ffff:10.0.0.1",
  "::ffff:7f00:1",
  "fc00::1",
  "fdff::1",
  "fec0::1",
  "100::1",
  "2001:2::1",
  "2001:db8::1",
  "3fff::1",
  "5f00::1",
  "4000::1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::8.8.8.8",
  "2002:7f00:1::1",
  "2606:4700::5efe:10.0.0.1",
  "2606:4700::200:5efe:192.168.0.1",
  "::8.8.8.8",
])("%s is private, and open where an exception says so", (address) => {
  expect(isAllowed(address)).toBe(false);
  expect(isAllowed(address, everything)).toBe(true);
});

test.each([
  "0.0.0.0",
  "0.1.2.3",
  "169.254.169.254",
  "169.254.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "fe80::1",
  "febf::1",
  "ff02::1",
  "fd00:ec2::254",
  "2001::1",
  "::ffff:169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
  "fd00::5efe:169.254.169.254",
  "::169.254.169.254",
  "fe80::1%eth0",
  "no address",
  "",
])("%j is never connected to, whatever is listed", (address) => {
  expect(isAllowed(address, everything)).toBe(false);
});

test("an exception opens one host, at one port where it names one, or one range", () => {
  expect(isAllowed("10.0.0.1", allow("Wiki.internal."), "wiki.internal", 81)).toBe(true);
  expect(isAllowed("10.0.0.1", allow("wiki.internal:80"), "wiki.internal", 80)).toBe(true);
  expect(isAllowed("10.0.0.1", allow("wiki.internal:80"), "wiki.internal", 81)).toBe(false);
  expect(isAllowed("10.0.0.1", allow("wiki.internal"), "other.internal")).toBe(false);
  expect(isAllowed("fd00::1", allow("fd00::1"), "[fd00::1]")).toBe(true);
  expect(isAllowed("fd00::1", allow("[fd00::1]:80"), "[fd00::1]")).toBe(true);
  expect(isAllowed("10.1.255.255", allow("10.1.0.0/16"))).toBe(true);
  expect(isAllowed("10.2.0.0", allow("10.1.0.0/16"))).toBe(false);
  expect(isAllowed("fd12:3456::1", allow("fd12:3400::/24"))).toBe(true);
  expect(isAllowed("fd13::1", allow("fd12:3400::/24"))).toBe(false);
  expect(isAllowed("10.0.0.1", allow("::/0"))).toBe(false);
});

test.each([
  "",
  "a b",
  "http://wiki.internal",
  "wiki.internal/path",
  "user@wiki.internal",
  "wiki.internal:0",
  "wiki.internal:65536",
  "wiki.internal:",
  "10.0.0.0/33",
  "10.0.0/8",
  "fd00::/129",
  "1.2.3.4.5",
])("%j is no exception", (text) => {
  expect(parseAllowedHost(text)).toBeNull();
});
