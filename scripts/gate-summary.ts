/** What the gate says at its end: its steps, the slowest files, the processor's time, and what was flaky. */
import type { FileReport } from "./test-report.ts";

interface Outcome {
  title: string;
  seconds: number;
  /** Of its processes, without those that outlived it: servers of the gate, or what a killed browser left. */
  processorSeconds: number;
  isOk: boolean;
}

const outcomes: Outcome[] = [];
const slowest: FileReport[] = [];
const shownFiles = 20;

export function noteOutcome(outcome: Outcome): void {
  outcomes.push(outcome);
}

export function noteFiles(reports: readonly FileReport[]): void {
  slowest.push(...reports);
  slowest.sort((one, other) => other.seconds - one.seconds);
  slowest.splice(shownFiles);
}

export interface Summary {
  counts: { passed: number; failed: number; skipped: number };
  flaky: readonly string[];
  /** What the run took, and may take; null where that is not known. */
  processor: { seconds: number; budgetSeconds: number } | null;
}

export function showSummary({ counts, flaky, processor }: Summary): void {
  console.log("\n--- summary ---");
  for (const { title, seconds, processorSeconds, isOk } of outcomes) {
    const took = `${seconds.toFixed(1)} s, ${processorSeconds.toFixed(1)} of the processor`;
    console.log(`${isOk ? "ok    " : "FAILED"} ${title} (${took})`);
  }
  console.log("\nThe slowest test files, by the clock, others beside them:");
  for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}`);
  console.log("");
  if (processor !== null) showProcessorTime(processor.seconds, processor.budgetSeconds);
  for (const line of flaky) console.log(`flaky: ${line}`);
  const { passed, failed, skipped } = counts;
  console.log("");
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
}

/** No failure: a slow machine is no defect. */
function showProcessorTime(seconds: number, budgetSeconds: number): void {
  console.log(
    `processor time: ${inMinutes(seconds)}, with browsers and servers; the budget is ${inMinutes(budgetSeconds)}`,
  );
  if (seconds > budgetSeconds)
    console.log(`OVER BUDGET by ${inMinutes(seconds - budgetSeconds)}: see CONTRIBUTING.md.`);
}

function inMinutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
