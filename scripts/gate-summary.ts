/** What the gate says at its end: its steps, the slowest files, the processor's time, and what was flaky. */
import type { FileReport } from "./test-report.ts";

interface Outcome {
  title: string;
  seconds: number;
  processorSeconds: number;
  isOk: boolean;
}

const outcomes: Outcome[] = [];
const slowest: FileReport[] = [];
const shownFiles = 20;
let processorSeconds = 0;

export function noteOutcome(outcome: Outcome): void {
  outcomes.push(outcome);
}

export function noteFiles(reports: readonly FileReport[]): void {
  slowest.push(...reports);
  slowest.sort((one, other) => other.seconds - one.seconds);
  slowest.splice(shownFiles);
}

/** Of a process that has ended, and of those that it waited for. */
export function noteProcessorTime(ended: Pick<Bun.Subprocess, "resourceUsage">): number {
  const seconds = Number(ended.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  processorSeconds += seconds;
  return seconds;
}

export interface Summary {
  counts: { passed: number; failed: number; skipped: number };
  flaky: readonly string[];
  /** Of processor time. */
  budgetSeconds: number;
}

export function showSummary({ counts, flaky, budgetSeconds }: Summary): void {
  console.log("\n--- summary ---");
  for (const { title, seconds, processorSeconds, isOk } of outcomes) {
    console.log(
      `${isOk ? "ok    " : "FAILED"} ${title} (${seconds.toFixed(1)} s, processor ${processorSeconds.toFixed(1)} s)`,
    );
  }
  console.log(`\nThe slowest test files, by the clock:`);
  for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(6)} s ${file}`);
  console.log("");
  console.log(`processor time: ${inMinutes(processorSeconds)} of ${inMinutes(budgetSeconds)}`);
  if (processorSeconds > budgetSeconds) {
    console.log("OVER BUDGET: see CONTRIBUTING.md, “What the gate may cost”. The processor time by step stands above.");
  }
  for (const line of flaky) console.log(`flaky: ${line}`);
  const { passed, failed, skipped } = counts;
  console.log("");
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
}

function inMinutes(seconds: number): string {
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
