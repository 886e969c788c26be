/** Placeholders for data: loading, nothing yet, or what went wrong. */
import { CircleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { toSentence } from "../lib/api.ts";
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

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="card px-6 py-12 text-center">
      <p class="text-16 font-semibold">{title}</p>
      {children && <div class="mx-auto mt-1.5 max-w-md text-pretty text-muted">{children}</div>}
      {action && <div class="mt-5 flex justify-center gap-2">{action}</div>}
    </div>
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

/** In place of missing data: that it is loading, or why it failed. */
export function Pending({ of, lines = 4, class: more = "" }: PendingProps) {
  if (of.error !== null) return <Failure error={of.error} onRetry={() => void of.reload()} />;
  return <Skeleton lines={lines} class={more} />;
}

/** A sentence about what just failed, read out at once. */
export function Problem({ children, class: more = "" }: { children: ComponentChildren; class?: string }) {
  return (
    <p role="alert" class={`rounded-[0.6rem] bg-bad-tint px-3.5 py-2.5 text-bad wrap-anywhere ${more}`}>
      {children}
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
  return <div class={`rounded-[0.6rem] px-3.5 py-2.5 text-14 ${tones[tone]} ${more}`}>{children}</div>;
}
