/** When a provider is passed over, and who finds out that it is back. */
import { expect, test } from "bun:test";
import { Circuit } from "../../src/core/llm/circuit.ts";

const one = "account-1";
const another = "account-2";

function fail(circuit: Circuit, nowMs: number, account = one): void {
  const call = circuit.begin(nowMs, account);
  call.noteFailure(nowMs);
  call.end();
}

function answer(circuit: Circuit, nowMs: number, account = one): void {
  const call = circuit.begin(nowMs, account);
  call.noteAnswer(nowMs);
  call.end();
}

/** Failed five times by the millisecond 4. */
function opened(): Circuit {
  const circuit = new Circuit();
  for (const nowMs of [0, 1, 2, 3, 4]) fail(circuit, nowMs);
  return circuit;
}

test("five failures in 30 s let it be passed over for 30 s, whatever it answered between them", () => {
  const circuit = new Circuit();
  for (const nowMs of [0, 1, 2, 3]) fail(circuit, nowMs);
  answer(circuit, 4);
  expect(circuit.isPassedOver(5, one)).toBe(false);
  fail(circuit, 29_999);
  expect([30_000, 59_998, 59_999].map((nowMs) => circuit.isPassedOver(nowMs, one))).toEqual([true, true, false]);
});

test("four failures, or five in more than 30 s, do not", () => {
  const circuit = new Circuit();
  for (const nowMs of [0, 10_000, 20_000, 25_000, 30_000, 40_000]) fail(circuit, nowMs);
  expect(circuit.isPassedOver(40_001, one)).toBe(false);
});

test("after the 30 s one trial decides: the others pass over it until then", () => {
  for (const isBack of [true, false]) {
    const circuit = opened();
    const trial = circuit.begin(30_004, one);
    const others = Array.from({ length: 100 }, () => circuit.isPassedOver(30_005, one));
    expect(others.every((isPassedOver) => isPassedOver)).toBe(true);
    if (isBack) trial.noteAnswer(31_000);
    else trial.noteFailure(31_000);
    trial.end();
    expect([31_001, 60_999, 61_000].map((nowMs) => circuit.isPassedOver(nowMs, one))).toEqual(
      isBack ? [false, false, false] : [true, true, false],
    );
  }
});

test("a trial whose visitor leaves is left to the next call", () => {
  const circuit = opened();
  circuit.begin(30_004, one).end();
  expect(circuit.isPassedOver(30_005, one)).toBe(false);
  const next = circuit.begin(30_006, one);
  expect(circuit.isPassedOver(30_007, one)).toBe(true);
  next.end();
});

test("calls that began before it opened change nothing, and a trial that has ended ends no other", () => {
  const circuit = new Circuit();
  const early = circuit.begin(0, one);
  for (const nowMs of [0, 1, 2, 3, 4]) fail(circuit, nowMs);
  early.noteAnswer(5);
  expect(circuit.isPassedOver(6, one)).toBe(true);

  const first = circuit.begin(30_004, one);
  first.noteAnswer(30_005);
  for (let nowMs = 30_010; nowMs < 30_015; nowMs++) fail(circuit, nowMs);
  const second = circuit.begin(60_014, one);
  first.end();
  expect(circuit.isPassedOver(60_015, one)).toBe(true);
  second.end();
});

test("one account's failures do not count while others get answers, and count as everybody's as soon as others fail", () => {
  const circuit = new Circuit();
  answer(circuit, 0, another);
  for (let nowMs = 1; nowMs < 20; nowMs++) fail(circuit, nowMs);
  expect([one, another].map((account) => circuit.isPassedOver(20, account))).toEqual([false, false]);
  // Nobody else has had an answer for 30 s.
  for (let nowMs = 30_000; nowMs < 30_005; nowMs++) fail(circuit, nowMs);
  expect(circuit.isPassedOver(30_005, one)).toBe(true);
  fail(circuit, 30_006, another);
  expect([30_007, 60_005, 60_006].map((nowMs) => circuit.isPassedOver(nowMs, another))).toEqual([true, true, false]);
});

test("whom one account's failures keep away is that account: another tries at once, and its answer closes it", () => {
  const circuit = opened();
  expect(circuit.isPassedOver(5, another)).toBe(false);
  answer(circuit, 6, another);
  expect(circuit.isPassedOver(7, one)).toBe(false);
});

test("an account that fails each trial keeps nobody else away", () => {
  const circuit = opened();
  fail(circuit, 5, another);
  expect(circuit.isPassedOver(6, another)).toBe(true);
  fail(circuit, 30_005);
  expect([one, another].map((account) => circuit.isPassedOver(30_006, account))).toEqual([true, false]);
});
