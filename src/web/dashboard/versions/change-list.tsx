/** Changes of fields for people: long texts line by line with their words marked, everything else from one value to the other. */
import { useState } from "preact/hooks";
import type { FieldChange } from "../lib/types.ts";
import { type DiffLine, diffLines } from "./text-diff.ts";
import { isLong, titleField, toText } from "./words.ts";

export function ChangeList({ changes }: { changes: readonly FieldChange[] }) {
  if (changes.length === 0) return <p class="text-muted">No differences.</p>;
  return (
    <dl class="space-y-5" aria-label="Changes">
      {changes.map((change) => (
        <div key={change.field}>
          <dt class="mb-1.5 font-medium">{titleField(change.field)}</dt>
          <dd>{isLong(change) ? <TextChange {...change} /> : <ShortChange {...change} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function ShortChange({ from, to }: FieldChange) {
  return (
    <p class="wrap-anywhere">
      <span class="sr-only">From </span>
      <Value text={toText(from)} class="bg-bad-tint" />
      <span aria-hidden="true"> → </span>
      <span class="sr-only"> to </span>
      <Value text={toText(to)} class="bg-good-tint" />
    </p>
  );
}

function Value({ text, class: tint }: { text: string; class: string }) {
  if (text === "") return <span class="text-muted">not set</span>;
  return (
    <span dir="auto" class={`rounded-[0.5rem] px-1.5 ${tint}`}>
      {text}
    </span>
  );
}

/** Unchanged lines that are shown on both sides of a change. */
const contextLines = 2;

type Row = DiffLine | { kind: "hidden"; lines: readonly DiffLine[] };

/** Hides what is far from any change. */
function fold(lines: readonly DiffLine[]): Row[] {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ kind }) => kind !== "same");
  const rows: Row[] = [];
  for (const [at, line] of lines.entries()) {
    const last = rows.at(-1);
    if (isNear(at)) rows.push(line);
    else if (last?.kind === "hidden") last.lines = [...last.lines, line];
    else rows.push({ kind: "hidden", lines: [line] });
  }
  // To hide one line saves none.
  return rows.flatMap((row): readonly Row[] => (row.kind === "hidden" && row.lines.length === 1 ? row.lines : [row]));
}

function TextChange({ from, to }: FieldChange) {
  const [isWhole, setIsWhole] = useState(false);
  const lines = diffLines(toText(from), toText(to)).filter(isWritten);
  return (
    <div class="overflow-hidden rounded-lg border border-line text-14 leading-relaxed">
      {(isWhole ? lines : fold(lines)).map((row, at) =>
        row.kind === "hidden" ? (
          <button
            key={at}
            type="button"
            class="block w-full bg-sunken px-3.5 py-1 text-left text-13 text-muted hover:text-ink"
            onClick={() => setIsWhole(true)}
          >
            {row.lines.length} unchanged lines
          </button>
        ) : (
          <Line key={at} {...row} />
        ),
      )}
    </div>
  );
}

/** A text that is not set has no line, not an empty one. */
function isWritten({ kind, parts }: DiffLine, _: number, lines: readonly DiffLine[]): boolean {
  return parts[0]?.text !== "" || lines.filter((line) => line.kind === kind || line.kind === "same").length > 1;
}

const styles = {
  same: { sign: "", word: "", line: "", part: "" },
  removed: { sign: "−", word: "Removed: ", line: "bg-bad-tint", part: "text-bad" },
  added: { sign: "+", word: "Added: ", line: "bg-good-tint", part: "text-good" },
} as const;

function Line({ kind, parts }: DiffLine) {
  const { sign, word, line, part } = styles[kind];
  return (
    <p class={`flex gap-2 px-3 py-0.5 ${line}`}>
      <span aria-hidden="true" class="size-4 shrink-0 font-mono text-muted">
        {sign}
      </span>
      <span class="sr-only">{word}</span>
      <span dir="auto" class="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">
        {parts.map(({ text, isChanged }, at) =>
          isChanged ? (
            <mark key={at} class={`rounded-[0.5rem] bg-card font-semibold ${part}`}>
              {text}
            </mark>
          ) : (
            text
          ),
        )}
      </span>
    </p>
  );
}
