/** What checking a value takes: where in it we are, what that may still cost, and what is wrong. */
import type { LinearPattern } from "../linear-pattern.ts";

/** Of a part of the value; null for all of it. */
export type Path = { readonly outer: Path; readonly key: string | number } | null;

export interface Fault {
  readonly path: Path;
  /** What is wrong with that part, behind its name: "must be a string". */
  readonly text: string;
}

export type Check = (value: unknown, path: Path, budget: Budget) => Fault | null;

/** Thrown where a check takes too much, no matter what it is part of: `not` must not turn that into its opposite. */
export class TooMuch extends Error {}

/** Of a check in all: of schemas with references, the number of paths through them grows exponentially with their size. */
const maxSteps = 5_000_000;
const visitSteps = 20;
/** Of schemas within one another, on the path to a part of the value. */
const maxDepth = 200;

export class Budget {
  #left = maxSteps;
  #depth = 0;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuch("takes too long to be checked");
  }

  enter(): void {
    this.spend(visitSteps);
    if (++this.#depth > maxDepth) throw new TooMuch("is nested too deeply");
  }

  leave(): void {
    this.#depth--;
  }

  matches(pattern: LinearPattern, text: string): boolean {
    this.spend(pattern.steps * (text.length + 1));
    return pattern.test(text);
  }

  names(value: JsonObject): readonly string[] {
    const names = Object.keys(value);
    this.spend(names.length);
    return names;
  }

  /** Equal for equal values alone, as JSON Schema sees them: in any order of members, and `1.0` is `1`. */
  canonical(value: unknown): string {
    this.enter();
    const text = this.#write(value);
    this.leave();
    return text;
  }

  #write(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map((item) => this.canonical(item)).join()}]`;
    if (isObject(value)) {
      const names = Object.keys(value).sort();
      return `{${names.map((name) => `${JSON.stringify(name)}:${this.canonical(value[name])}`).join()}}`;
    }
    if (typeof value === "string") this.spend(value.length);
    return JSON.stringify(value);
  }
}

export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How many parts of the value enclose the position. */
export function depthOf(path: Path): number {
  let depth = 0;
  for (let at = path; at !== null; at = at.outer) depth++;
  return depth;
}

const maxPathLength = 200;

/** One sentence: `"items[0].date" must be a string.` */
export function describeFault({ path, text }: Fault): string {
  const keys: (string | number)[] = [];
  for (let at = path; at !== null; at = at.outer) keys.unshift(at.key);
  let name = "";
  for (const key of keys) name += typeof key === "number" ? `[${key}]` : name === "" ? key : `.${key}`;
  if (name.length > maxPathLength) name = `${name.slice(0, maxPathLength)}…`;
  return `${path === null ? "The value" : JSON.stringify(name)} ${text}.`;
}
