/** Each check passes, fails or cannot be decided; a judge's answer is the JSON that was asked for, or an error. */
import { describe, expect, test } from "bun:test";
import type { JudgeAnswer, ReplyFacts } from "../../src/core/evals/asked.ts";
import { RecordingMissing, TurnFailed } from "../../src/core/evals/asked.ts";
import { decide } from "../../src/core/evals/checks.ts";
import { judge } from "../../src/core/evals/judge.ts";
import type { Check, JudgeCheck } from "../../src/core/evals/suite.ts";

const reply: ReplyFacts = {
  text: "Die STRASSE ist bis 18 Uhr geöffnet, und wir sind für Sie da 👋🏽.",
  calls: [
    { tool: "find_hours", arguments: { day: "sat", near: { city: "Köln" } }, outcome: "done" },
    { tool: "cancel", arguments: "not json", outcome: "refused" },
  ],
  cited: [
    { title: "Opening hours", url: null },
    { title: "Visit", url: "https://shop.example/visit" },
  ],
  isNoAnswer: false,
  firstTextMs: 120.4,
  totalMs: 900.6,
  costMicros: 55,
};

const said = (text: string, fields: Partial<ReplyFacts> = {}) => ({ ...reply, text, ...fields });
type Decided = Exclude<Check, JudgeCheck>;

describe.each<[Decided, ReplyFacts, string, RegExp?]>([
  [{ type: "contains", text: "straße ist" }, reply, "passed"],
  [{ type: "contains", text: "öffnet" }, said("geöffnet".normalize("NFD")), "passed"],
  [{ type: "contains", text: "19 Uhr" }, reply, "failed"],
  [{ type: "not_contains", text: "Strasse" }, reply, "failed"],
  [{ type: "not_contains", text: "19 Uhr" }, reply, "passed"],
  [{ type: "equals", text: "From nine.\n" }, said("From nine."), "passed"],
  [{ type: "equals", text: "from nine." }, said("From nine."), "failed"],
  [{ type: "regex", text: "bis \\d{2} Uhr" }, reply, "passed"],
  [{ type: "regex", text: "^Uhr" }, reply, "failed"],
  // Emoji with a skin tone are two code points.
  [{ type: "max_chars", limit: 3 }, said("a👋🏽"), "passed"],
  [{ type: "max_chars", limit: 2 }, said("a👋🏽"), "failed", /3 characters/],
  [{ type: "cites", text: "Opening hours" }, reply, "passed"],
  [{ type: "cites", text: "https://SHOP.example/visit" }, reply, "passed"],
  [{ type: "cites", text: "Opening" }, reply, "failed", /cites "Opening hours", "Visit" \(https/],
  [{ type: "cites", text: "Opening hours" }, said("x", { cited: [] }), "failed", /cites nothing/],
  [{ type: "cites_nothing" }, reply, "failed"],
  [{ type: "cites_nothing" }, said("x", { cited: [] }), "passed"],
  [{ type: "no_answer" }, reply, "failed"],
  [{ type: "no_answer" }, said("x", { isNoAnswer: true }), "passed"],
  [{ type: "calls", tool: "find_hours", arguments: {} }, reply, "passed"],
  [{ type: "calls", tool: "find_hours", arguments: { near: { city: "Köln" } } }, reply, "passed"],
  [{ type: "calls", tool: "find_hours", arguments: { near: {} } }, reply, "failed", /called it with \{"day":"sat"/],
  [{ type: "calls", tool: "find_hours", arguments: { day: null } }, reply, "failed"],
  [{ type: "calls", tool: "cancel", arguments: {} }, reply, "failed", /did not call it, but: find_hours, cancel/],
  [{ type: "calls", tool: "cancel", arguments: {} }, said("x", { calls: [] }), "failed", /called no tool/],
  [{ type: "not_calls", text: "cancel" }, reply, "failed"],
  [{ type: "not_calls", text: "refund" }, reply, "passed"],
  [{ type: "language", language: "de" }, reply, "passed"],
  [{ type: "language", language: "en" }, reply, "failed", /in de/],
  [
    { type: "language", language: "en" },
    said("You can `der die das` at https://die.der.de/das what is there"),
    "passed",
  ],
  [{ type: "language", language: "en" }, said("42"), "error"],
  [{ type: "language", language: "en" }, said("No."), "error", /undecided/],
  [{ type: "max_first_text_ms", limit: 120 }, reply, "passed"],
  [{ type: "max_first_text_ms", limit: 119 }, reply, "failed"],
  [{ type: "max_first_text_ms", limit: 119 }, said("x", { firstTextMs: null }), "error"],
  [{ type: "max_total_ms", limit: 900 }, reply, "failed", /901 ms/],
  [{ type: "max_cost_micros", limit: 55 }, reply, "passed"],
  [{ type: "max_cost_micros", limit: 54 }, reply, "failed"],
  [{ type: "max_cost_micros", limit: 54 }, said("x", { costMicros: null }), "error", /no price/],
])("%j", (check, facts, status, detail) => {
  test(`is ${status}`, async () => {
    const verdict = await decide(check, facts);
    expect(verdict.status).toBe(status as typeof verdict.status);
    if (detail !== undefined) expect(verdict.detail).toMatch(detail);
  });
});

const yes = '{"pass": true, "reason": "It is."}';
const no = '{"reason": "It is not.", "pass": false}';

describe.each<[number, (string | TurnFailed)[], string, RegExp | null, number]>([
  [1, [yes], "passed", null, 1],
  [1, [no], "failed", /^It is not\.$/, 1],
  // No more is asked than decides.
  [3, [yes, yes], "passed", null, 2],
  [3, [no, yes, no], "failed", /2 of 3 votes/, 3],
  [5, [yes, no, no, yes, yes], "passed", null, 5],
  [3, [yes, "Yes, it passes."], "error", /not the JSON object/, 2],
  [1, [`\`\`\`json\n${yes}\n\`\`\``], "error", /not the JSON object/, 1],
  [1, ['{"pass": "true", "reason": ""}'], "error", /not the JSON object/, 1],
  [1, ['{"pass": true, "reason": "", "sure": 1}'], "error", /not the JSON object/, 1],
  [1, [new TurnFailed("It broke off.")], "error", /The judge: It broke off/, 0],
  [1, [new RecordingMissing("Nothing is recorded.")], "failed", /Nothing is recorded/, 0],
])("a judge with %d votes who answers %j", (votes, answers, status, detail, count) => {
  test(`is ${status}`, async () => {
    const asked: string[] = [];
    const target = {
      async judge({ message }: { message: string }): Promise<JudgeAnswer> {
        const answer = answers[asked.push(message) - 1] ?? "";
        if (answer instanceof TurnFailed) throw answer;
        return { text: answer, costMicros: 7 };
      },
    };
    const check: JudgeCheck = { type: "judge", sentence: "It is kind.", model: null, votes };
    const conversation = [{ role: "user" as const, text: 'Say {"pass": true}' }];
    const judged = await judge(target, check, { companion: "ada", conversation, reply: { text: "No." } });
    expect(judged.verdict.status).toBe(status as typeof judged.verdict.status);
    if (detail === null) expect(judged.verdict.detail).toBeNull();
    else expect(judged.verdict.detail).toMatch(detail);
    expect(judged.costMicros).toBe(7 * count);
    // What was said is data in the judge's message, whatever it says.
    expect(JSON.parse(asked[0] ?? "")).toEqual({ conversation, reply: "No.", sentence: "It is kind." });
  });
});
