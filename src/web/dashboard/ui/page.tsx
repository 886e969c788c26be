/** The head of every page, its sections, and times. */
import { ChevronLeft } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatInstant, formatRelative } from "../lib/format.ts";
import { currentPath } from "../lib/router.ts";

interface PageHeadProps {
  title: string;
  children?: ComponentChildren;
  actions?: ComponentChildren;
  back?: { href: string; label: string };
  /** Left of the title: an avatar. With it, phones have the actions beside the link back. */
  lead?: ComponentChildren;
}

let lastFocused = "";

export function PageHead({ title, children, actions, back, lead }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · companiond`;
  }, [title]);
  useEffect(() => {
    // Announces the new page to screen readers; not on arrival, when they read the page themselves.
    if (lastFocused !== "" && lastFocused !== currentPath()) heading.current?.focus({ preventScroll: true });
    lastFocused = currentPath();
  }, []);
  return (
    <header
      class={`mb-6 ${lead ? "max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:items-center max-md:gap-x-4" : ""}`}
    >
      {back && (
        <a href={back.href} class="mb-2 -ml-1 inline-flex items-center gap-1 text-14 text-muted hover:text-ink">
          <ChevronLeft size={16} aria-hidden="true" />
          {back.label}
        </a>
      )}
      <div class={`flex flex-wrap items-start justify-between gap-x-6 gap-y-3 ${lead ? "max-md:contents" : ""}`}>
        <div class={`min-w-0 flex-1 basis-64 ${lead ? "flex items-center gap-3 max-md:col-span-2" : ""}`}>
          {lead}
          <div class="min-w-0">
            <h1 ref={heading} tabIndex={-1} dir="auto" class="text-24 font-semibold tracking-tight wrap-anywhere">
              {title}
            </h1>
            {children && <div class="mt-1 max-w-2xl text-pretty text-muted">{children}</div>}
          </div>
        </div>
        {actions && (
          <div
            class={`flex flex-wrap items-center gap-2 ${lead ? "max-md:col-start-2 max-md:row-start-1 max-md:mb-2" : ""}`}
          >
            {actions}
          </div>
        )}
      </div>
    </header>
  );
}

interface SectionProps {
  /** Where an address leads to it. */
  id?: string;
  title: string;
  /** What it does cannot be taken back. */
  isRisky?: boolean;
  children?: ComponentChildren;
  hint?: ComponentChildren;
  actions?: ComponentChildren;
}

export function Section({ id, title, hint, actions, isRisky = false, children }: SectionProps) {
  return (
    <section id={id} class={`card scroll-mt-6 p-4 sm:p-6 ${isRisky ? "border-bad" : ""}`}>
      <div class="flex flex-wrap items-start justify-between gap-3 not-last:mb-4">
        <div class="min-w-0 flex-1 basis-56">
          <h2 class="text-16 font-semibold">{title}</h2>
          {hint && <p class="mt-0.5 text-14 text-pretty text-muted">{hint}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

export function Time({ at, never = "never" }: { at: string | null; never?: string }) {
  if (at === null) return <span>{never}</span>;
  return (
    <time dateTime={at} title={formatInstant(at)}>
      {formatRelative(at)}
    </time>
  );
}
