/** What is asked of every server that streams: how many visitors come, and how the provider writes to them. */
import type { Load } from "./load/plan.ts";

/** Enough for compilers of all tiers: before that, a server is busy with itself. */
export const warmUps: Load[] = [
  { plan: { chunks: 10, perWrite: 1, gapMs: 5, isLockStep: false }, visitors: 200, requests: 2_000, rampMs: 0 },
  { plan: { chunks: 500, perWrite: 1, gapMs: 0, isLockStep: true }, visitors: 100, requests: 200, rampMs: 0 },
  { plan: { chunks: 1, perWrite: 1, gapMs: 1, isLockStep: false }, visitors: 50, requests: 15_000, rampMs: 0 },
];

/** Half a second of reply, a second of thought, and the visitors spread over both. */
const firstText = (visitors: number): Load => ({
  plan: { chunks: 10, perWrite: 1, gapMs: 50, isLockStep: false },
  visitors,
  requests: visitors === 1 ? 20 : visitors * 4,
  rampMs: visitors === 1 ? 0 : 1_500 / visitors,
  thinkMs: visitors === 1 ? 0 : 1_000,
});

export const loads = {
  one: {
    plan: { chunks: 1_000, perWrite: 1, gapMs: 0, isLockStep: false },
    visitors: 50,
    requests: 200,
    rampMs: 0,
  },
  eight: {
    plan: { chunks: 2_000, perWrite: 8, gapMs: 0, isLockStep: false },
    visitors: 50,
    requests: 800,
    rampMs: 0,
  },
  lockStep: {
    plan: { chunks: 500, perWrite: 1, gapMs: 0, isLockStep: true },
    visitors: 100,
    requests: 300,
    rampMs: 0,
  },
  paced: {
    plan: { chunks: 500, perWrite: 1, gapMs: 20, isLockStep: false },
    visitors: 500,
    requests: 500,
    rampMs: 2,
  },
  /** Hardly more than the request itself. */
  request: {
    plan: { chunks: 1, perWrite: 1, gapMs: 1, isLockStep: false },
    visitors: 50,
    requests: 3_000,
    rampMs: 0,
  },
  first1: firstText(1),
  first50: firstText(50),
  first500: firstText(500),
} satisfies Record<string, Load>;

/** These take a second or two, and what else goes on in a shared machine lasts as long: they come more than once in a round. */
export const shortLoads: ReadonlySet<string> = new Set(["one", "eight", "lockStep", "request"]);

const leavingPlan = { chunks: 1_000, perWrite: 1, gapMs: 50, isLockStep: false };

/** Visitors who leave at random moments of their replies, early and midway, as in life; and four hundred at one blow. */
export const leaving = {
  oneByOne: { plan: leavingPlan, visitors: 200, requests: 2_000, rampMs: 10, leaveWithinMs: 2_500 },
  together: {
    plan: leavingPlan,
    visitors: 400,
    requests: 400,
    rampMs: 2,
    leaveWithinMs: 2_500,
    isLeavingTogether: true,
  },
} satisfies Record<string, Load>;

export type LoadName = keyof typeof loads;
