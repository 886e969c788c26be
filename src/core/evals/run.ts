/** Runs suites, one turn after the other: asks, checks, counts what it costs, and stops where nothing more may be spent. */
import {
  type AskedTurn,
  BudgetReached,
  type EvalTarget,
  RecordingMissing,
  type ReplyFacts,
  TurnFailed,
} from "./asked.ts";
import { decide, erred, failed, passed, type Verdict } from "./checks.ts";
import { judge } from "./judge.ts";
import {
  type Attempt,
  type CaseResult,
  type CheckResult,
  type EvalOutcome,
  sumCost,
  type TurnResult,
} from "./result.ts";
import type { Check, EvalCase, JudgeCheck, Suite } from "./suite.ts";

export interface RunOptions {
  /** How often every case runs; null: as often as its file says, or once. */
  readonly repeat: number | null;
  /** In micro-dollars: once this much is spent, nothing more is asked. Null: no limit. */
  readonly maxCostMicros: number | null;
  /** Whether what has no price counts as nothing, as of recordings. */
  readonly isFree: boolean;
  /** Called after each case. */
  noteCase?(result: CaseResult): void;
}

export async function runSuites(
  suites: readonly Suite[],
  target: EvalTarget,
  options: RunOptions,
): Promise<EvalOutcome> {
  const run = new Run(target, options);
  const results = [];
  for (const suite of suites) {
    const cases: CaseResult[] = [];
    for (const one of suite.cases) {
      const result = await run.runCase(suite.companion, one);
      cases.push(result);
      options.noteCase?.(result);
    }
    results.push({ suite, cases });
  }
  const { stopped, isRecordingMissing, costMicros } = run;
  return { suites: results, stopped, isRecordingMissing, costMicros };
}

class Run {
  stopped: EvalOutcome["stopped"] = null;
  isRecordingMissing = false;
  costMicros: number | null = 0;

  constructor(
    private readonly target: EvalTarget,
    private readonly options: RunOptions,
  ) {}

  async runCase(companion: string, one: EvalCase): Promise<CaseResult> {
    const wanted = this.options.repeat ?? one.repeat ?? 1;
    const attempts: Attempt[] = [];
    while (attempts.length < wanted && this.#mayAsk()) attempts.push(await this.#attempt(companion, one));
    const passes = attempts.filter(({ status }) => status === "passed").length;
    const status = attempts.length < wanted || this.stopped !== null ? "skipped" : conclude(attempts, passes);
    return { case: one, status, passes, attempts };
  }

  async #attempt(companion: string, { visitor, history, turns }: EvalCase): Promise<Attempt> {
    const results: TurnResult[] = [];
    const said = [...history];
    for (const turn of turns) {
      if (!this.#mayAsk()) break;
      const asked = { companion, visitor, history: [...said], turn };
      const result = await this.#takeTurn(asked, turn.expect);
      results.push(result);
      // Without a reply there is no conversation to go on with.
      if (result.reply === null) break;
      said.push({ role: "user", text: turn.user }, { role: "assistant", text: result.reply.text });
    }
    return { status: worstOf(results.flatMap(({ outcome, checks }) => [outcome, ...checks])), turns: results };
  }

  async #takeTurn(asked: AskedTurn, expected: readonly Check[]): Promise<TurnResult> {
    const { user } = asked.turn;
    try {
      const reply = await this.target.ask(asked);
      this.#count(reply.costMicros);
      const checks: CheckResult[] = [];
      for (const check of expected) {
        checks.push({
          check,
          ...(check.type === "judge" ? await this.#judge(check, asked, reply) : await decide(check, reply)),
        });
      }
      return { user, reply, checks, outcome: findUnanswered(reply) };
    } catch (error) {
      if (!(error instanceof TurnFailed)) throw error;
      this.#note(error);
      this.#count(error.costMicros);
      return { user, reply: null, checks: [], outcome: toVerdict(error) };
    }
  }

  async #judge(
    check: JudgeCheck,
    { companion, history, turn: { user } }: AskedTurn,
    reply: ReplyFacts,
  ): Promise<Verdict> {
    if (!this.#mayAsk()) return erred("The judge was not asked any more.");
    const { verdict, costMicros, failure } = await judge(this.target, check, {
      ...{ companion, reply },
      conversation: [...history, { role: "user", text: user }],
    });
    this.#count(costMicros);
    if (failure !== null) this.#note(failure);
    return verdict;
  }

  #note(failure: TurnFailed): void {
    if (failure instanceof RecordingMissing) this.isRecordingMissing = true;
    if (failure instanceof BudgetReached) this.stopped ??= { by: "budget", detail: failure.message };
  }

  #count(costMicros: number | null): void {
    this.costMicros = sumCost(this.costMicros, costMicros);
  }

  #mayAsk(): boolean {
    const { maxCostMicros, isFree } = this.options;
    if (this.stopped === null && maxCostMicros !== null) {
      if (this.costMicros === null && !isFree) {
        const detail = "A model that answered has no price, so what it costs is not known. Set COMPANIOND_PRICES.";
        this.stopped = { by: "max_cost", detail };
      } else if (this.costMicros !== null && this.costMicros >= maxCostMicros) {
        this.stopped = { by: "max_cost", detail: "As much is spent as --max-cost allows." };
      }
    }
    return this.stopped === null;
  }
}

function toVerdict(failure: TurnFailed): Verdict {
  return failure instanceof RecordingMissing ? failed(failure.message) : erred(failure.message);
}

function findUnanswered({ calls }: ReplyFacts): Verdict {
  const unanswered = calls.find(({ outcome }) => outcome === "unanswered");
  if (unanswered === undefined) return passed;
  const { tool, arguments: given } = unanswered;
  return failed(`The model called ${tool} with ${JSON.stringify(given)}, and the case has no answer for that call.`);
}

function worstOf(verdicts: readonly Pick<Verdict, "status">[]): Verdict["status"] {
  if (verdicts.some(({ status }) => status === "failed")) return "failed";
  return verdicts.some(({ status }) => status === "error") ? "error" : "passed";
}

function conclude(attempts: readonly Attempt[], passes: number): Verdict["status"] {
  return passes * 2 > attempts.length ? "passed" : worstOf(attempts);
}
