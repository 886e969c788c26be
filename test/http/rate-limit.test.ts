import { describe, expect, test } from "bun:test";
import { retryAfterSeconds, writeRateLimitHeaders } from "../../src/http/rate-limit.ts";
import { createRateRules } from "../../src/limits/rules.ts";

const rules = createRateRules();

describe("the rate-limit headers", () => {
  const policy = '"ip";q=10;w=60, "token";q=30;w=60';

  test("name each rule with its quota and window, and what is left of it", () => {
    const headers = {};
    const byIp = { isAdmitted: true, rule: rules.ip, remaining: 9, resetMs: 51_001 };
    const byToken = { isAdmitted: true, rule: rules.token, remaining: 29, resetMs: 60_000 };
    writeRateLimitHeaders(headers, rules, "embed", byIp, byToken);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=9;t=52, "token";r=29;t=60' });
  });

  test("tell the whole policy before all checks were made, and replace what was written then", () => {
    const byIp = { isAdmitted: true, rule: rules.ip, remaining: 3, resetMs: 1 };
    const byToken = { isAdmitted: false, rule: rules.token, remaining: 0, resetMs: 1001 };
    const headers = {};
    writeRateLimitHeaders(headers, rules, "embed", byIp);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=3;t=1' });
    writeRateLimitHeaders(headers, rules, "embed", byIp, byToken);
    expect(headers).toEqual({ "ratelimit-policy": policy, ratelimit: '"ip";r=3;t=1, "token";r=0;t=2' });
  });

  test("tell of each door its own rules, also where rules were set otherwise", () => {
    const others = createRateRules({ ratePerToken: 5, ratePerIp: 4, ratePerKey: 3 });
    const verdict = { isAdmitted: true, rule: others.key, remaining: 2, resetMs: 1 };
    const headers = {};
    writeRateLimitHeaders(headers, others, "key", verdict);
    expect(headers).toEqual({ "ratelimit-policy": '"key";q=3;w=60', ratelimit: '"key";r=2;t=1' });
    writeRateLimitHeaders(headers, others, "embed", { ...verdict, rule: others.ip });
    expect(headers).toMatchObject({ "ratelimit-policy": '"ip";q=4;w=60, "token";q=5;w=60' });
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
  expect([rules.ip.limit, rules.token.limit, rules.key.limit]).toEqual([10, 30, 600]);
  const set = createRateRules({ ratePerToken: 1, ratePerIp: 2, ratePerKey: 3 });
  expect([set.token.limit, set.ip.limit, set.key.limit]).toEqual([1, 2, 3]);
  for (const rule of [set.token, set.ip, set.key]) expect(rule.windowMs).toBe(60_000);
});
