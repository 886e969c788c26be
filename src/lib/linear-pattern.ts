/**
 * Regular expressions of strangers, by RE2's rules: the time that a match takes grows with the text alone, never with what
 * could be tried. JavaScript's own engine needs years for some patterns of ten characters.
 */

export interface LinearPattern {
  /** Whether any part of the text matches. */
  test(text: string): boolean;
  /** A match takes at most about this many steps for each character. */
  readonly steps: number;
}

/** The message describes the fault, as the continuation of a name: "looks ahead …". */
export class PatternFault extends Error {
  override readonly name = "PatternFault";
}

const maxLength = 2000;
/** Ten times as many take a second for a text of 10 000 characters. */
export const maxPatternSteps = 5000;

/**
 * JavaScript's spelling, as JSON Schema has it, or RE2's. Look-around and back references are faults, since they have no
 * such bound, and so are counts of more than 1 000. Rejects with `PatternFault`. Loads the engine, which takes some
 * milliseconds, when the first pattern is compiled.
 */
export async function compilePattern(source: string, maxSteps = maxPatternSteps): Promise<LinearPattern> {
  if (source.length > maxLength) throw new PatternFault(`is longer than ${maxLength} characters`);
  // The engine's translation takes it for the letter.
  if (/^(?:[^\\]|\\[^k])*\\k/.test(source)) throw new PatternFault(backReference);
  const { RE2JS, RE2JSException } = await import("re2js");
  const translated = RE2JS.translateRegExp(source);
  // Counted first, since what is large takes long to compile; and again, since the engine may read a class otherwise.
  if (countSteps(translated) > maxSteps) throw new PatternFault("repeats too much");
  try {
    const pattern = RE2JS.compile(translated);
    const steps = pattern.programSize();
    if (steps > 2 * maxSteps) throw new PatternFault("repeats too much");
    return { test: (text) => pattern.test(text), steps };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PatternFault(explain(source), { cause: error });
  }
}

const backReference = "refers back to a group, which is not supported";

function explain(source: string): string {
  if (/\(\?<?[=!]/.test(source)) return "looks ahead or behind, which is not supported";
  if (/\\[1-9]/.test(source)) return backReference;
  return "is no regular expression of RE2's syntax";
}

/** The atoms of the pattern with its counted repetitions written out: at least half the program that it becomes. */
function countSteps(source: string): number {
  // `\Q…\E` would hide brackets from this count.
  if (source.includes("\\Q")) throw new PatternFault("contains \\Q, which is not supported");
  let group = { total: 1, last: 0 };
  const outer: (typeof group)[] = [];
  const add = (size: number) => {
    group.total += group.last;
    group.last = size;
  };
  const leave = () => {
    add(0);
    const { total } = group;
    group = outer.pop() ?? { total: 1, last: 0 };
    add(total);
  };
  for (let at = 0; at < source.length; ) {
    const [flags] = matchAt(/\(\?[a-zA-Z-]*\)/y, source, at);
    const [count, least, most] = matchAt(/\{(\d{1,9})(?:,(\d{0,9}))?\}/y, source, at);
    // A count behind flags repeats what is before them.
    if (flags === undefined) {
      if (count !== undefined) group.last *= Math.max(1, Number(least), Number(most ?? 0)) + 1;
      else if (source[at] === "(") {
        outer.push(group);
        group = { total: 2, last: 0 };
      } else if (source[at] === ")") leave();
      else add(1);
    }
    at = flags === undefined && count === undefined ? endOfAtom(source, at) : at + (flags ?? count ?? "").length;
  }
  while (outer.length > 0) leave();
  return group.total + group.last;
}

function matchAt(sticky: RegExp, source: string, at: number): readonly (string | undefined)[] {
  sticky.lastIndex = at;
  return sticky.exec(source) ?? [];
}

/** Behind the character, escape or class that begins here; RE2 itself refuses those that do not end. */
function endOfAtom(source: string, at: number): number {
  if (source[at] === "\\") {
    const hasBraces = source[at + 2] === "{" && /[pPx]/.test(source[at + 1] ?? "");
    return hasBraces ? behind(source, "}", at) : at + 2;
  }
  if (source[at] !== "[") return at + 1;
  let end = at + (source[at + 1] === "^" ? 2 : 1);
  // The first one is a member.
  if (source[end] === "]") end++;
  while (end < source.length && source[end] !== "]") {
    if (source.startsWith("[:", end) && source.includes(":]", end)) end = behind(source, ":]", end);
    else end += source[end] === "\\" ? 2 : 1;
  }
  return end + 1;
}

function behind(source: string, mark: string, at: number): number {
  const found = source.indexOf(mark, at);
  return found === -1 ? source.length : found + mark.length;
}
