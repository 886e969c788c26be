/** A part of a companion's form that is closed until it is wanted: its title, what is set, and its fields. */
import { ChevronDown } from "lucide-preact";
import type { ComponentChildren } from "preact";

interface FoldProps {
  /** Of the section, in the page's address. */
  id: string;
  title: string;
  /** What is set, in a line. */
  summary: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

export function Fold({ id, title, summary, hint, children }: FoldProps) {
  return (
    <details id={id} class="scroll-mt-6 border-line not-first:border-t">
      <summary class="flex items-center gap-4 rounded-2xl px-4 py-3 focus-visible:-outline-offset-2 sm:px-6">
        <span class="min-w-0 flex-1">
          <span class="block text-16 font-semibold">{title}</span>
          <span dir="auto" class="block truncate text-13 text-muted [[open]>summary_&]:hidden">
            {summary}
          </span>
        </span>
        <ChevronDown size={18} class="shrink-0 text-muted [[open]>summary_&]:rotate-180" aria-hidden="true" />
      </summary>
      <div class="px-4 pb-6 sm:px-6">
        {hint && <p class="mb-4 text-pretty text-muted">{hint}</p>}
        {children}
      </div>
    </details>
  );
}
