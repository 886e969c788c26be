/** Placeholders for data: loading, nothing yet, or what went wrong. */
import { CircleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { fieldProblem, toSentence } from "../lib/api.ts";
import { Button } from "./button.tsx";

export function Skeleton({ lines = 4, class: more = "" }: { lines?: number; class?: string }) {
  return (
    <div class={`space-y-3 ${more}`} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton h-11" />
      ))}
    </div>
  );
}

/** In the shape of a page: its title, the sentence below, and a list. */
export function PageSkeleton() {
  return (
    <div>
      <div class="skeleton h-8 w-48" />
      <div class="skeleton mt-2 mb-8 h-3 w-72 max-w-full" />
      <Skeleton />
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="px-4 py-12 text-center">
      <Bubbles />
      <p class="text-16 font-semibold">{title}</p>
      {children && <div class="mx-auto mt-1.5 max-w-md text-pretty text-muted">{children}</div>}
      {action && <div class="mt-5 flex justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Two speech bubbles, one of them yet to be filled. */
function Bubbles() {
  return (
    <svg width="104" height="72" viewBox="0 0 104 72" fill="none" aria-hidden="true" class="mx-auto mb-4">
      <path
        d="M58 10h30a10 10 0 0 1 10 10v16a10 10 0 0 1-10 10h-1v9l-10-9H58a10 10 0 0 1-10-10V20a10 10 0 0 1 10-10z"
        class="fill-card stroke-edge opacity-60"
        stroke-width="2"
        stroke-dasharray="5 4"
      />
      <path
        d="M18 20h30a12 12 0 0 1 12 12v12a12 12 0 0 1-12 12H30L16 66V55.8A12 12 0 0 1 6 44V32a12 12 0 0 1 12-12z"
        class="fill-tint stroke-accent"
        stroke-width="2"
        stroke-linejoin="round"
      />
      <path d="M26 33v4m14-4v4" class="stroke-accent" stroke-width="4" stroke-linecap="round" />
      <path d="M25 44q8 6 16 0" stroke="#ffb938" stroke-width="3.5" stroke-linecap="round" />
    </svg>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert" class="card flex flex-wrap items-center gap-4 px-5 py-4">
      <CircleAlert size={20} class="text-bad" aria-hidden="true" />
      <p class="min-w-0 flex-1">{toSentence(error)}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

interface PendingProps {
  of: { error: unknown; reload(): unknown };
  lines?: number;
  class?: string;
}

/** Instead of missing data: that it is loading, or why it failed. */
export function Pending({ of, lines = 4, class: more = "" }: PendingProps) {
  if (of.error !== null) return <Failure error={of.error} onRetry={() => void of.reload()} />;
  return <Skeleton lines={lines} class={more} />;
}

interface ProblemProps {
  /** What failed, of which nothing is shown while it is null; or a sentence of one's own. */
  error?: unknown;
  /** What the server says of this one says more. */
  field?: string;
  children?: ComponentChildren;
  class?: string;
}

/** A sentence about what just failed, read out immediately. */
export function Problem({ error = null, field = "", children, class: more = "" }: ProblemProps) {
  if (error === null && children === undefined) return null;
  return (
    <p role="alert" class={`rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad wrap-anywhere ${more}`}>
      {children ?? fieldProblem(error, field) ?? toSentence(error)}
    </p>
  );
}

export type Tone = "neutral" | "good" | "warn" | "bad" | "accent";

const tones: Record<Tone, string> = {
  neutral: "bg-sunken text-muted",
  good: "bg-good-tint text-good",
  warn: "bg-warn-tint text-warn",
  bad: "bg-bad-tint text-bad",
  accent: "bg-tint text-accent",
};

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ComponentChildren }) {
  return (
    <span class={`inline-flex items-center rounded-full px-2 py-0.5 text-12 font-medium ${tones[tone]}`}>
      {children}
    </span>
  );
}

interface NoticeProps {
  tone?: Tone;
  class?: string;
  children: ComponentChildren;
}

export function Notice({ tone = "warn", class: more = "", children }: NoticeProps) {
  return <div class={`rounded-lg px-3.5 py-2.5 text-14 ${tones[tone]} ${more}`}>{children}</div>;
}
