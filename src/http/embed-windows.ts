/** The checks that an embed request begins with where windows are counted elsewhere: that of its address, its token, and that of the token. */
import type { Limiter } from "../contracts/limiter/limiter.ts";
import type { EmbedWindows } from "../contracts/limiter/rules.ts";
import type { EmbedTarget } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { Plan } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import type { ClientIp } from "./client-ip.ts";
import { admitClient, findTargetOf, type Opening, windowsOfClient } from "./rate-limit.ts";

/** What the last request of a token found; decides only what is asked together, never what is admitted. */
export type Expected = Pick<Companion, "allowedOrigins" | "visitorAuth"> & { readonly plan: Plan };

/** So many are remembered of one limiter, then all are forgotten. */
const maxExpected = 10_000;
const expectedBy = new WeakMap<Limiter, Map<string, Expected>>();

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
  const known = expectedOf(limiter);
  const findTarget = async () => note(known, token, await findTargetOf(store, token));
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
