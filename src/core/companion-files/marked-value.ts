/** A value of a document with the lines that it stands on, and the rules that hold for YAML and JSON alike. */
import type { JsonValue } from "../../domain/json.ts";

/** What is wrong with a file that people wrote. */
export interface FileFault {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly sentence: string;
}

/** Where a value stands: its own line, which is that of its name in an object, and the lines of what it holds. */
export interface Mark {
  readonly line: number;
  readonly parts: ReadonlyMap<string | number, Mark>;
  /** What is written there cannot be read, which is reported: the value is not what was meant. */
  readonly isUnread?: true;
}

export interface MarkedValue {
  readonly value: JsonValue;
  readonly mark: Mark;
}

/** Deeper ones would be work for whatever recurses into each level. */
export const maxDepth = 40;

export const noParts: ReadonlyMap<string | number, Mark> = new Map();

/** The line of what the path leads to, or of the nearest that holds it where it is missing. */
export function lineOf(mark: Mark, path: readonly (string | number)[]): number {
  let at = mark;
  for (const step of path) {
    const next = at.parts.get(step);
    if (next === undefined) break;
    at = next;
  }
  return at.line;
}

/** Whether what the path leads to, or something that holds it, could not be read. */
export function isUnread(mark: Mark, path: readonly (string | number)[]): boolean {
  let at: Mark | undefined = mark;
  for (const step of path) {
    if (at?.isUnread) return true;
    at = at?.parts.get(step);
  }
  return at?.isUnread ?? false;
}

/** A sentence, or null. */
export function findNumberFault(value: number): string | null {
  if (!Number.isFinite(value)) return "Is not a number that JSON knows.";
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return "Is too large to be exact: write it as text.";
  return null;
}
