/** Figures side by side in one card, each with what it means or what to do about it. */
import type { ComponentChildren } from "preact";
import { formatNumber } from "../lib/format.ts";

/** The classes say in how many columns. */
export function Figures({ class: columns, children }: { class: string; children: ComponentChildren }) {
  return <dl class={`card grid overflow-hidden ${columns}`}>{children}</dl>;
}

interface FigureProps {
  title: string;
  /** All but numbers is formatted already; null is not known yet. */
  value: ComponentChildren;
  /** Of the value, where it is rounded. */
  exact?: string | undefined;
  isWarning?: boolean;
  /** On narrow screens. */
  isWide?: boolean;
  children: ComponentChildren;
}

export function Figure({ title, value, exact, isWarning = false, isWide = false, children }: FigureProps) {
  return (
    <div class={`-mt-px -ml-px min-w-0 border-t border-l border-line p-4 ${isWide ? "max-lg:col-span-2" : ""}`}>
      <dt class="text-13 text-muted">{title}</dt>
      <dd title={exact} class={`text-28 font-semibold tracking-tight tabular-nums ${isWarning ? "text-warn" : ""}`}>
        {typeof value === "number" ? formatNumber(value) : (value ?? "–")}
      </dd>
      <dd class="text-13 text-pretty text-muted">{children}</dd>
    </div>
  );
}

/** From so many questions that found no source on, a companion's sources need someone: a few are of every week. */
export const manyGaps = 7;

/** Of those who said either; null if no one did. */
export function shareOf(yes: number, no: number): string | null {
  return yes + no === 0 ? null : `${Math.round((100 * yes) / (yes + no))}%`;
}
