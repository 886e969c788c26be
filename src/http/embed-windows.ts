/** The checks that an embed request begins with: the window of its address, its token, and where it may, the window of that. */
import type { Limiter, RateRule, Verdict } from "../contracts/limiter/limiter.ts";
import type { EmbedWindows } from "../contracts/limiter/rules.ts";
import type { EmbedTarget } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { Plan } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import { isEmbedToken } from "../domain/credentials.ts";
import type { ClientIp } from "./client-ip.ts";
import { admitClient, windowsOfClient } from "./rate-limit.ts";

/** What the last request of a token found; decides only what is asked together, never what is admitted. */
export type Expected = Pick<Companion, "allowedOrigins" | "visitorAuth"> & { readonly plan: Plan };

/** So many are remembered of one limiter, then all are forgotten. */
const maxExpected = 10_000;
const expectedBy = new WeakMap<Limiter, Map<string, Expected>>();

export interface Opening {
  readonly byIp: Verdict;
  /** Null if the token does not work. Call it only if `byIp` admits the request. */
  findTarget(): Promise<EmbedTarget | null>;
  /** The token's window by this rule; takes a slot. */
  admitToken(rule: RateRule): Promise<Verdict>;
}

/**
 * Where verdicts take a round trip, both windows are asked beside the lookup of a token that worked before, if `isUsual`
 * for what it found then. So a request takes one round trip where it would take three. One that differs from the last
 * one of its token is judged in the order of the contract: only those that find a change first may take a slot of the
 * token that they would not have taken.
 */
export async function openWindows(
  { limiter, store }: Pick<Services, "limiter" | "store">,
  token: string,
  client: Pick<ClientIp, "limitSubject" | "networks">,
  windows: EmbedWindows,
  isUsual: (expected: Expected) => boolean,
): Promise<Opening> {
  // Check the format before any lookup: a path may contain anything.
  const find = async () => (isEmbedToken(token) ? await store.companions.findByEmbedToken(token) : null);
  if (!limiter.isRemote) {
    const admitToken = (rule: RateRule) => limiter.admit(rule, token);
    return { byIp: await admitClient(limiter, windows.ip, client), findTarget: find, admitToken };
  }
  const known = expectedOf(limiter);
  const findTarget = async () => note(known, token, await find());
  const expected = known.get(token);
  if (expected === undefined || !isUsual(expected)) {
    const byIp = await admitClient(limiter, windows.ip, client);
    return { byIp, findTarget, admitToken: (rule) => limiter.admit(rule, token) };
  }
  const expectedRule = windows.token[expected.plan];
  const target = findTarget();
  // Not awaited where the address is refused.
  target.catch(() => {});
  const { first, second } = await limiter.admitInTurn(windowsOfClient(windows.ip, client), {
    rule: expectedRule,
    subject: token,
  });
  return {
    byIp: first,
    findTarget: () => target,
    admitToken: async (rule) => (rule === expectedRule && second !== null ? second : limiter.admit(rule, token)),
  };
}

function expectedOf(limiter: Limiter): Map<string, Expected> {
  const known = expectedBy.get(limiter) ?? new Map<string, Expected>();
  expectedBy.set(limiter, known);
  return known;
}

function note(known: Map<string, Expected>, token: string, target: EmbedTarget | null): EmbedTarget | null {
  // Of the windows of one that asks for work, only the request decides which it takes.
  if (target === null || target.companion.challenge !== "off") {
    known.delete(token);
    return target;
  }
  if (known.size >= maxExpected && !known.has(token)) known.clear();
  const { allowedOrigins, visitorAuth } = target.companion;
  known.set(token, { allowedOrigins, visitorAuth, plan: target.plan });
  return target;
}
