import { describe, expect, test } from "bun:test";
import { createRateRules } from "../../src/contracts/limiter/rules.ts";
import { createMemoryLimiter } from "../../src/engines/memory/limiter/memory.ts";
import { clientIp } from "../../src/http/client-ip.ts";
import {
  admitClient,
  embedPolicyOf,
  policyOf,
  retryAfterSeconds,
  writeRateLimitHeaders,
} from "../../src/http/rate-limit.ts";
import { createManualClock } from "../support/manual-clock.ts";

const rules = createRateRules();

describe("the rate-limit headers", () => {
  const policy = '"ip";q=10;w=60, "token";q=30;w=60';

  test("name each rule with its quota and window, and what is left of it", () => {
    const headers = {};
    const byIp = { isAdmitted: true, rule: rules.ip, remaining: 9, resetMs: 51_001 };
    const byToken = { isAdmitted: true, rule: rules.token.free, remaining: 29, resetMs: 60_000 };
    writeRateLimitHeaders(headers, embedPolicyOf(rules, "free"), byIp, byToken);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=9;t=52, "token";r=29;t=60' });
  });

  test("state the whole policy before all checks are done, and replace it afterwards", () => {
    const byIp = { isAdmitted: true, rule: rules.ip, remaining: 3, resetMs: 1 };
    const byToken = { isAdmitted: false, rule: rules.token.free, remaining: 0, resetMs: 1001 };
    const headers = {};
    writeRateLimitHeaders(headers, embedPolicyOf(rules, "free"), byIp);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=3;t=1' });
    writeRateLimitHeaders(headers, embedPolicyOf(rules, "free"), byIp, byToken);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=3;t=1, "token";r=0;t=2' });
  });

  test("state the rules of each kind of access, also if they are configured", () => {
    const others = createRateRules({
      ratePerToken: { free: 5, paid: 50 },
      ratePerIp: 4,
      configRatePerToken: null,
      configRatePerIp: null,
      liveRatePerIp: 60,
      ratePerKey: 3,
      chatRatePerKey: 5,
      asksPerIp: 20,
    });
    const verdict = { isAdmitted: true, rule: others.key, remaining: 2, resetMs: 1 };
    const headers = {};
    writeRateLimitHeaders(headers, policyOf(others.key), verdict);
    expect(headers).toEqual({ "ratelimit-policy": '"key";q=3;w=60', ratelimit: '"key";r=2;t=1' });
    writeRateLimitHeaders(headers, embedPolicyOf(others, "free"), { ...verdict, rule: others.ip });
    expect(headers).toMatchObject({ "ratelimit-policy": '"ip";q=4;w=60, "token";q=5;w=60' });
    writeRateLimitHeaders(headers, embedPolicyOf(others, "paid"), { ...verdict, rule: others.ip });
    expect(headers).toMatchObject({ "ratelimit-policy": '"ip";q=4;w=60, "token";q=50;w=60' });
  });

  test.each([
    [1, 1],
    [999, 1],
    [1000, 1],
    [1001, 2],
    [59_999, 60],
    [60_000, 60],
  ])("ask to wait whole seconds that suffice: %p ms is %p", (resetMs, seconds) => {
    expect(retryAfterSeconds({ isAdmitted: false, rule: rules.ip, remaining: 0, resetMs })).toBe(seconds);
  });
});

test("the rules carry what the operator set, and the interface's numbers by default", () => {
  const { token } = rules;
  expect([rules.ip.limit, token.free.limit, token.paid.limit, rules.key.limit]).toEqual([10, 30, 30, 600]);
  const set = createRateRules({
    ...{ ratePerToken: { free: 1, paid: 4 }, ratePerIp: 2, ratePerKey: 3, chatRatePerKey: 5, asksPerIp: 20 },
    ...{ configRatePerToken: 6, configRatePerIp: null, liveRatePerIp: 8 },
  });
  expect([set.token.free.limit, set.token.paid.limit, set.ip.limit, set.key.limit]).toEqual([1, 4, 2, 3]);
  expect([set.config.token.free.limit, set.config.token.paid.limit, set.config.ip.limit]).toEqual([6, 6, 2]);
  expect(set.live.limit).toBe(8);
  for (const rule of [set.token.free, set.token.paid, set.ip, set.key, set.live]) expect(rule.windowMs).toBe(60_000);
});

describe("an IPv6 client", () => {
  function open() {
    const clock = createManualClock();
    const limiter = createMemoryLimiter({ clock });
    const ask = async (address: string) => await admitClient(limiter, rules.ip, clientIp(address, null, 0));
    async function countAdmitted(addresses: readonly string[]): Promise<number> {
      let admitted = 0;
      for (const address of addresses) if ((await ask(address)).isAdmitted) admitted++;
      return admitted;
    }
    return { clock, limiter, ask, countAdmitted };
  }

  /** Of as many networks in one /48, each asked once. */
  const addresses = (count: number, spread: number) =>
    Array.from({ length: count }, (_, index) => `2001:db8:1:${(index * spread).toString(16)}::1`);

  test("has four times the number from all of its /56, and sixteen times from its /48", async () => {
    const { countAdmitted } = open();
    expect(await countAdmitted(addresses(60, 1))).toBe(40);
    const other = open();
    expect(await other.countAdmitted(addresses(250, 0x100))).toBe(160);
  });

  test("is told of the tightest window, and waits for the one that refused", async () => {
    const { clock, ask } = open();
    expect(await ask("2001:db8:1:1::1")).toMatchObject({ rule: rules.ip, remaining: 9 });
    for (let count = 0; count < 35; count++) await ask(`2001:db8:1:${(0x20 + count).toString(16)}::1`);
    clock.advance(1000);
    expect(await ask("2001:db8:1:2::1")).toMatchObject({ isAdmitted: true, remaining: 3, resetMs: 59_000 });
    for (let count = 0; count < 3; count++) expect((await ask("2001:db8:1:3::1")).isAdmitted).toBe(true);
    expect(await ask("2001:db8:1:4::1")).toMatchObject({ isAdmitted: false, remaining: 0, resetMs: 59_000 });
    clock.advance(59_000);
    expect((await ask("2001:db8:1:4::1")).isAdmitted).toBe(true);
  });

  test("uses up nothing of its own while a wider network refuses it, and takes nothing from others while refused", async () => {
    const { clock, ask, countAdmitted } = open();
    for (let count = 0; count < 20; count++) await ask("2001:db8:1:5::1");
    // Ten of forty are taken, though twenty asked.
    expect(await countAdmitted(addresses(60, 1).slice(10))).toBe(30);
    clock.advance(60_000);
    expect(await countAdmitted(Array(12).fill("2001:db8:1:5::1"))).toBe(10);
  });

  test("is counted apart from other /48s, and IPv4 knows no networks", async () => {
    const { ask, countAdmitted } = open();
    await countAdmitted(addresses(250, 0x100));
    expect((await ask("2001:db8:2::1")).isAdmitted).toBe(true);
    const neighbours = Array.from({ length: 250 }, (_, index) => `192.0.2.${index}`);
    expect(await countAdmitted(neighbours)).toBe(250);
  });
});
