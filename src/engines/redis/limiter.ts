/** The limiter engine for several instances: exact windows in Redis, and in this instance's memory while Redis is away. */
import {
  type Limiter,
  type RateRule,
  type RateWindow,
  tighterOf,
  type Verdict,
  type VerdictsInTurn,
} from "../../contracts/limiter/limiter.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SharedRedis } from "./breaker.ts";
import { keyOf } from "./script.ts";
import { windowScript } from "./window-script.ts";

export interface RedisLimiterOptions {
  redis: SharedRedis;
  /** Gives the verdicts while Redis is away. */
  fallback: Limiter;
  /** For tests; Redis' own clock otherwise, the only one that all instances share. */
  clock?: Pick<Clock, "monotonicMs">;
  /** Windows with a higher limit are lists; replaced in tests. */
  maxString?: number;
}

/** Copying six bytes for each slot takes a microsecond or two here, and grows with the limit. */
const defaultMaxString = 1000;

/**
 * A verdict takes one round trip, which all of one turn of the event loop share. It comes from `fallback` if Redis is
 * away, or if it does not answer in time: then after the deadline of a command, and immediately for those that ask
 * meanwhile.
 *
 * While Redis is away each of N instances counts separately, so at most N times a limit is admitted. Nothing of that is
 * merged into Redis, and what Redis had admitted is not known to the instances: in the minutes in which it leaves and
 * comes back, at most N + 1 times the limit is admitted. A visitor whose request timed out may occupy a slot in both.
 *
 * Redis' clock is a wall clock. Setting it back neither admits nor locks out anyone, but setting it forward frees
 * slots early; clocks of instances do not matter.
 */
export function createRedisLimiter(options: RedisLimiterOptions): Limiter {
  return new RedisLimiter(options);
}

interface Asked {
  readonly windows: readonly RateWindow[];
  readonly together: number;
  readonly most: number;
  resolve(verdicts: Verdict[] | null): void;
}

/** Requests that share a command: Redis does nothing else meanwhile. */
const maxTogether = 32;

class RedisLimiter implements Limiter {
  readonly isRemote = true;
  readonly #redis: SharedRedis;
  readonly #fallback: Limiter;
  readonly #clock: Pick<Clock, "monotonicMs"> | undefined;
  readonly #maxString: number;
  #gathered: Asked[] = [];

  constructor({ redis, fallback, clock, maxString = defaultMaxString }: RedisLimiterOptions) {
    this.#maxString = maxString;
    this.#redis = redis;
    this.#fallback = fallback;
    this.#clock = clock;
  }

  async admit(rule: RateRule, subject: string): Promise<Verdict> {
    return (await this.#judge([{ rule, subject }])) ?? this.#fallback.admit(rule, subject);
  }

  async admitAll(windows: readonly [RateWindow, ...RateWindow[]]): Promise<Verdict> {
    return (await this.#judge(windows)) ?? this.#fallback.admitAll(windows);
  }

  async admitInTurn(first: readonly [RateWindow, ...RateWindow[]], second: RateWindow): Promise<VerdictsInTurn> {
    const verdicts = await this.#ask([...first, second], first.length);
    if (verdicts === null) return this.#fallback.admitInTurn(first, second);
    return { first: verdicts.slice(0, first.length).reduce(tighterOf), second: verdicts[first.length] ?? null };
  }

  async admitUpTo(rule: RateRule, subject: string, most: number): Promise<Verdict> {
    return (await this.#judge([{ rule, subject }], most)) ?? this.#fallback.admitUpTo(rule, subject, most);
  }

  /** The connection is shared, and closed by the code that opened it. */
  close(): void {
    this.#fallback.close();
  }

  async #judge(windows: readonly [RateWindow, ...RateWindow[]], most?: number): Promise<Verdict | null> {
    return (await this.#ask(windows, windows.length, most))?.reduce(tighterOf) ?? null;
  }

  /**
   * The windows after the `together` first are judged on their own, if those admit. Null: Redis is away. What is asked in
   * one turn of the event loop shares a command.
   */
  #ask(windows: readonly RateWindow[], together: number, most = Number.POSITIVE_INFINITY): Promise<Verdict[] | null> {
    return new Promise((resolve) => {
      if (this.#gathered.length === 0) setImmediate(() => this.#flush());
      this.#gathered.push({ windows, together, most, resolve });
    });
  }

  #flush(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    for (let at = 0; at < gathered.length; at += maxTogether) void this.#send(gathered.slice(at, at + maxTogether));
  }

  async #send(asked: readonly Asked[]): Promise<void> {
    const keys: string[] = [];
    const args = [this.#clock === undefined ? "" : String(Math.floor(this.#clock.monotonicMs()))];
    for (const { windows, together, most } of asked) {
      args.push(String(windows.length), String(together));
      for (const { rule, subject } of windows) {
        keys.push(keyOf(`${rule.name}:${rule.limit}:${rule.windowMs}`, subject));
        const isList = rule.limit > this.#maxString;
        args.push(String(Math.min(most, rule.limit)), String(rule.windowMs), isList ? "1" : "0");
      }
    }
    const answer = await this.#redis.ask(windowScript, keys, args);
    let at = 0;
    for (const { windows, resolve } of asked) {
      resolve(answer && windows.flatMap(({ rule }, index) => verdictAt(answer, at + index * 3, rule) ?? []));
      at += windows.length * 3;
    }
  }
}

function verdictAt(answer: readonly number[], at: number, rule: RateRule): Verdict | null {
  const [hasRoom, occupied = rule.limit, resetMs = rule.windowMs] = answer.slice(at, at + 3);
  return hasRoom === -1 ? null : { isAdmitted: hasRoom === 1, rule, remaining: rule.limit - occupied, resetMs };
}
