import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { formatIpv4, formatIpv6, isPrivateIp, readIp } from "../../src/lib/ip-address.ts";
import { createRandom } from "../support/random.ts";

const groups = new Uint16Array(8);

function canonical(text: string): string | null {
  const version = readIp(text, 0, text.length, groups);
  if (version === 0) return null;
  return version === 4 ? formatIpv4(groups) : formatIpv6(groups);
}

describe("reading an IP address", () => {
  test.each([
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
  ])("takes %s for %s", (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  test.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "1..2.3",
    "1.2.3.",
    ".1.2.3",
    "1.2.3.4 ",
    "0x1.2.3.4",
    "1.2.3.-4",
    "16909060",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4::5:6:7:8",
    "1::2::3",
    "12345::",
    "::g",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3",
    "::1.2.3.4:5",
    ":1::2",
    "1:2:",
    "fe80::1%eth0",
    "[::1]",
    "１.2.3.4",
  ])("refuses %p", (text) => {
    expect(canonical(text)).toBeNull();
  });

  test("agrees with the platform on what is an address, however broken, and is stable on its own output", () => {
    const random = createRandom(11);
    const parts = ["0", "1", "ffff", "255", "256", "abcd", ":", ":", ":", "::", ".", ".", "12", "g"] as const;
    let valid = 0;
    for (let i = 0; i < 60_000; i++) {
      const length = 1 + random.below(16);
      const text = Array.from({ length }, () => random.pick(parts)).join("");
      const read = canonical(text);
      expect([text, read !== null]).toEqual([text, isIP(text) !== 0]);
      if (read !== null) {
        valid++;
        expect(canonical(read)).toBe(read);
      }
    }
    expect(valid).toBeGreaterThan(100);
  });

  test("writes every address so that it reads back as the same, in the platform's own form", () => {
    const random = createRandom(12);
    for (let i = 0; i < 5000; i++) {
      const source = Array.from({ length: 8 }, () => (random.below(2) === 0 ? 0 : random.below(65_536)));
      source[0] = 0x2001;
      const written = canonical(source.map((group) => group.toString(16)).join(":")) ?? "";
      expect(new URL(`http://[${source.map((group) => group.toString(16)).join(":")}]`).hostname).toBe(`[${written}]`);
      expect([...groups]).toEqual(source);
    }
  });
});

describe("private addresses", () => {
  test.each([
    ["127.0.0.1", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["10.255.255.255", true],
    ["172.16.0.1", true],
    ["172.31.255.255", true],
    ["172.15.0.1", false],
    ["172.32.0.1", false],
    ["192.168.1.1", true],
    ["192.169.1.1", false],
    ["169.254.1.1", true],
    ["100.64.0.1", true],
    ["100.127.255.255", true],
    ["100.128.0.1", false],
    ["fd00::1", true],
    ["fc00::1", true],
    ["fe80::1", true],
    ["fec0::1", false],
    ["2001:db8::1", false],
    ["::2", false],
    ["1::1", false],
    ["8.8.8.8", false],
    ["no address", false],
  ])("%s: %p", (text, expected) => {
    expect(isPrivateIp(readIp(text, 0, text.length, groups), groups)).toBe(expected);
  });
});
