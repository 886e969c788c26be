/** Suites run turn by turn, with the conversation so far; repeats decide by majority, and spending ends a run. */
import { expect, test } from "bun:test";
import {
  type AskedTurn,
  BudgetReached,
  RecordingMissing,
  type ReplyFacts,
  TurnFailed,
} from "../../src/core/evals/asked.ts";
import { exitCodeOf, nothingRun } from "../../src/core/evals/result.ts";
import { type RunOptions, runSuites } from "../../src/core/evals/run.ts";
import type { EvalCase, Suite } from "../../src/core/evals/suite.ts";

const facts = (text: string): ReplyFacts => ({
  ...{ text, calls: [], cited: [], isNoAnswer: false, firstTextMs: 1, totalMs: 2, costMicros: 10 },
});

function suiteOf(...cases: (Partial<EvalCase> & { says: string[] })[]): Suite {
  return {
    ...{ file: "a.yaml", name: "A", companion: "ada", companionLine: 2 },
    cases: cases.map(({ says, ...fields }, index) => ({
      ...{ name: `case ${index}`, visitor: null, history: [], repeat: null },
      turns: says.map((user) => ({ user, tools: {}, expect: [{ type: "contains", text: "yes" }] })),
      ...fields,
    })),
  };
}

/** Answers each message with the next of its answers, or the last. */
async function run(
  suites: Suite[],
  answers: Record<string, (string | TurnFailed | Partial<ReplyFacts>)[]>,
  options: Partial<RunOptions> = {},
) {
  const asked: AskedTurn[] = [];
  const target = {
    async ask(turn: AskedTurn) {
      asked.push(turn);
      const left = answers[turn.turn.user] ?? ["yes"];
      const answer = (left.length > 1 ? left.shift() : left[0]) ?? "yes";
      if (answer instanceof Error) throw answer;
      return typeof answer === "string" ? facts(answer) : { ...facts("yes"), ...answer };
    },
    judge: () => Promise.reject(new Error("no one is judged here")),
  };
  const outcome = await runSuites(suites, target, { repeat: null, maxCostMicros: null, isFree: false, ...options });
  const exitCode = exitCodeOf({ ...outcome, faults: [], problems: [], stale: null });
  const cases = outcome.suites.flatMap(({ cases }) => cases);
  return {
    outcome,
    exitCode,
    asked,
    cases,
    states: cases.map(({ status, passes, attempts }) => `${status} ${passes}/${attempts.length}`),
  };
}

test("each turn has the history and the turns before it, with the replies that came", async () => {
  const history = [{ role: "user" as const, text: "Hello" }];
  const { asked, exitCode, outcome } = await run([suiteOf({ says: ["a", "b"], history })], {
    a: ["yes 1"],
    b: ["yes 2"],
  });
  expect(asked.map(({ history }) => history.map(({ text }) => text))).toEqual([["Hello"], ["Hello", "a", "yes 1"]]);
  expect([exitCode, outcome.costMicros]).toEqual([0, 20]);
});

test("a case passes where more than half of its attempts do; the command line's count wins over the file's", async () => {
  const suite = suiteOf({ says: ["a"], repeat: 4 }, { says: ["b"], repeat: 3 }, { says: ["c"] });
  const answers = () => ({ a: ["no", "no", "yes"], b: ["no", "yes"], c: ["no"] });
  const own = await run([suite], answers());
  expect([own.states, own.exitCode]).toEqual([["failed 2/4", "passed 2/3", "failed 0/1"], 1]);
  const given = await run([suite], answers(), { repeat: 5 });
  expect(given.states).toEqual(["passed 3/5", "passed 4/5", "failed 0/5"]);
});

test("a turn without a reply ends its attempt; what failed and what could not be decided are apart", async () => {
  const { states, asked, exitCode } = await run([suiteOf({ says: ["a", "b"] }, { says: ["c"] })], {
    a: [new TurnFailed("Broken.", 5)],
  });
  expect([states, exitCode, asked.length]).toEqual([["error 0/1", "passed 1/1"], 1, 2]);
});

test("a call that the case has no answer for fails it, whatever the reply", async () => {
  const calls = [{ tool: "find", arguments: { id: 1 }, outcome: "unanswered" as const }];
  const { cases, exitCode } = await run([suiteOf({ says: ["a"] })], { a: [{ calls }] });
  expect([cases[0]?.status, exitCode]).toEqual(["failed", 1]);
  expect(cases[0]?.attempts[0]?.turns[0]?.outcome.detail).toBe(
    'The model called find with {"id":1}, and the case has no answer for that call.',
  );
});

test("a missing recording fails its case alone, and is the exit code 3 before that of failures", async () => {
  const { states, exitCode } = await run([suiteOf({ says: ["a"] }, { says: ["b"] }, { says: ["c"] })], {
    a: [new RecordingMissing("Nothing is recorded.")],
    b: ["no"],
  });
  expect([states, exitCode]).toEqual([["failed 0/1", "failed 0/1", "passed 1/1"], 3]);
});

test.each<[string, Partial<RunOptions>, (string | TurnFailed | Partial<ReplyFacts>)[], string[], number]>([
  [
    "a budget",
    {},
    ["yes", new BudgetReached("The budget is used up.")],
    ["passed 1/1", "skipped 0/1", "skipped 0/0"],
    4,
  ],
  ["--max-cost", { maxCostMicros: 20 }, ["yes"], ["passed 1/1", "passed 1/1", "skipped 0/0"], 4],
  [
    "--max-cost where a price is missing",
    { maxCostMicros: 20 },
    [{ costMicros: null }],
    ["passed 1/1", "skipped 0/0", "skipped 0/0"],
    4,
  ],
  [
    "nothing, where all is recorded",
    { maxCostMicros: 20, isFree: true },
    [{ costMicros: null }],
    ["passed 1/1", "passed 1/1", "passed 1/1"],
    0,
  ],
  [
    "nothing, where the last case reaches it",
    { maxCostMicros: 30 },
    ["yes"],
    ["passed 1/1", "passed 1/1", "passed 1/1"],
    0,
  ],
])("a run is stopped by %s", async (_, options, answers, expected, code) => {
  const { states, exitCode } = await run(
    [suiteOf({ says: ["a"] }, { says: ["a"] }), suiteOf({ says: ["a"] })],
    { a: answers },
    options,
  );
  expect([states, exitCode]).toEqual([expected, code]);
});

test("a fault of a file, and a problem that no case has, are the exit code 1", () => {
  const whole = { ...nothingRun, faults: [], problems: [], stale: null };
  expect(exitCodeOf(whole)).toBe(0);
  expect(exitCodeOf({ ...whole, faults: [{ file: "a.yaml", line: 1, sentence: "Bad." }] })).toBe(1);
  expect(exitCodeOf({ ...whole, problems: ["Bad."] })).toBe(1);
});
