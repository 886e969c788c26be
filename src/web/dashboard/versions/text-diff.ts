/** What differs between two texts: line by line, and within a changed line word by word. */

export interface DiffPart {
  text: string;
  isChanged: boolean;
}

export interface DiffLine {
  kind: "same" | "removed" | "added";
  parts: readonly DiffPart[];
}

interface Step {
  kind: DiffLine["kind"];
  text: string;
}

/** Beyond it the table would take seconds and tens of megabytes: what lies between the common ends is replaced whole. */
const maxCells = 4_000_000;
/** Lines that have less in common are two lines, not one that was changed. */
const minCommon = 0.3;

export function diffLines(before: string, after: string): DiffLine[] {
  const steps = diff(before.split("\n"), after.split("\n"));
  const lines: DiffLine[] = [];
  for (let at = 0; at < steps.length; ) {
    const step = steps[at] as Step;
    if (step.kind === "same") {
      lines.push({ kind: "same", parts: [{ text: step.text, isChanged: false }] });
      at++;
      continue;
    }
    const end = steps.findIndex(({ kind }, index) => index > at && kind === "same");
    const changed = steps.slice(at, end === -1 ? undefined : end);
    lines.push(...diffWords(textsOf(changed, "removed"), textsOf(changed, "added")));
    at += changed.length;
  }
  return lines;
}

const textsOf = (steps: readonly Step[], kind: Step["kind"]) =>
  steps.filter((step) => step.kind === kind).map(({ text }) => text);

/** Of lines that stand for each other, in their order. */
function diffWords(removed: readonly string[], added: readonly string[]): DiffLine[] {
  const pairs = removed.map((line, at) => {
    const other = added[at];
    const steps = other === undefined ? [] : diff(splitWords(line), splitWords(other));
    const common = textsOf(steps, "same").join("").length;
    return common >= minCommon * Math.max(line.length, other?.length ?? 0) ? steps : null;
  });
  const draw = (kind: "removed" | "added") => (text: string, at: number) => {
    const steps = pairs[at]?.filter((step) => step.kind === kind || step.kind === "same") ?? [];
    const parts = steps.length > 0 ? joinParts(steps) : [{ text, isChanged: false }];
    return { kind, parts };
  };
  return [...removed.map(draw("removed")), ...added.map(draw("added"))];
}

function joinParts(steps: readonly Step[]): DiffPart[] {
  const parts: DiffPart[] = [];
  for (const { kind, text } of steps) {
    const isChanged = kind !== "same";
    const last = parts.at(-1);
    if (last?.isChanged === isChanged) last.text += text;
    else parts.push({ text, isChanged });
  }
  return parts;
}

const words = new Intl.Segmenter("en", { granularity: "word" });

function splitWords(line: string): string[] {
  return [...words.segment(line)].map(({ segment }) => segment);
}

/** The steps from one list to the other, with as much in common as there can be. */
function diff(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  const same = (texts: readonly string[]): Step[] => texts.map((text) => ({ kind: "same", text }));
  return [
    ...same(before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): Step[] {
  const steps: Step[] = [];
  const [rows, columns] = [before.length, after.length];
  const width = columns + 1;
  const isBounded = (rows + 1) * width <= maxCells;
  /** The length of the longest common part of what follows. */
  const common = new Uint32Array(isBounded ? (rows + 1) * width : 0);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = rows - 1; isBounded && row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  for (let row = 0, column = 0; row < rows || column < columns; ) {
    const [own, other] = [before[row], after[column]];
    if (isBounded && own !== undefined && own === other) {
      steps.push({ kind: "same", text: own });
      row++;
      column++;
    } else if (own !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ kind: "removed", text: own });
      row++;
    } else {
      steps.push({ kind: "added", text: other ?? "" });
      column++;
    }
  }
  return steps;
}
