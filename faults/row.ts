/** A row of the table: a kind of trouble, how often it was made, and the counts that decide the verdict. */
import { createRandom } from "../test/support/random.ts";

/** How much of it: `tiny` for the test suite, `short` for a look, `long` for a proof. */
export type Form = "tiny" | "short" | "long";
export type Random = ReturnType<typeof createRandom>;

export interface RowContext {
  readonly seed: number;
  readonly form: Form;
  readonly random: Random;
  /** Duration of rows that run for a given time. */
  readonly minutes: number;
  /** Reports progress to the person who waits. */
  say(sentence: string): void;
}

export interface FaultRow {
  /** For `--only`. */
  name: string;
  title: string;
  /** For the report: what is done, and what must result from it, in plain words. */
  story: string;
  run(context: RowContext): Promise<Outcome>;
}

export interface Check {
  what: string;
  counted: number;
  /** The expected count, in words: `0`, `at least 200`. */
  expected: string;
  isOk: boolean;
}

export interface Outcome {
  /** What was done, and how often. */
  done: { what: string; times: number }[];
  checks: Check[];
  /** The first few examples of each fault. */
  examples: string[];
  /** Why the row was skipped, or null. */
  skipped: string | null;
}

export function createContext(form: Form, seed: number, options: Partial<RowContext> = {}): RowContext {
  return { form, seed, random: createRandom(seed), minutes: 1, say: () => {}, ...options };
}

export function skipped(reason: string): Outcome {
  return { done: [], checks: [], examples: [], skipped: reason };
}

/** Every failed check, with examples; empty if the row passed. */
export function listFailures({ checks, examples }: Outcome): string[] {
  const failed = checks.filter((check) => !check.isOk);
  const sentences = failed.map(({ what, counted, expected }) => `${what}: ${counted}, expected ${expected}`);
  return failed.length === 0 ? [] : [...sentences, ...examples];
}

const maxExamplesOfOneKind = 3;

/** Counts while a row runs. Verdicts depend on counts only, never on how long something took. */
export class Tally {
  readonly #done = new Map<string, number>();
  readonly #never = new Map<string, number>();
  readonly #checks: Check[] = [];
  readonly #examples: string[] = [];

  /** `never`: faults that must not happen, so that the table lists them even with a count of 0. */
  constructor(never: readonly string[]) {
    for (const what of never) this.#never.set(what, 0);
  }

  did(what: string, times = 1): void {
    this.#done.set(what, (this.#done.get(what) ?? 0) + times);
  }

  timesDone(what: string): number {
    return this.#done.get(what) ?? 0;
  }

  /** Counts one fault that must not happen. */
  fault(what: string, example: string): void {
    const seen = this.#never.get(what);
    if (seen === undefined) throw new Error(`not announced: ${what}`);
    this.#never.set(what, seen + 1);
    if (seen < maxExamplesOfOneKind) this.#examples.push(`${what}: ${example.slice(0, 400)}`);
  }

  equal(what: string, counted: number, expected: number): void {
    this.#checks.push({ what, counted, expected: String(expected), isOk: counted === expected });
  }

  atLeast(what: string, counted: number, least: number): void {
    this.#checks.push({ what, counted, expected: `at least ${least}`, isOk: counted >= least });
  }

  atMost(what: string, counted: number, most: number): void {
    this.#checks.push({ what, counted, expected: `at most ${most}`, isOk: counted <= most });
  }

  outcome(): Outcome {
    const never = [...this.#never].map(([what, counted]) => ({
      what,
      counted,
      expected: "0",
      isOk: counted === 0,
    }));
    return {
      done: [...this.#done].map(([what, times]) => ({ what, times })),
      checks: [...never, ...this.#checks],
      examples: this.#examples,
      skipped: null,
    };
  }
}
