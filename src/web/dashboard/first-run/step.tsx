/** One step of the first run: its tick, its title, what came of it, and its work where it is open. */
import { Check } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

export function Tick({ isDone, number }: { isDone: boolean; number: number }) {
  return (
    <span
      class={`grid size-6 shrink-0 place-items-center rounded-full text-12 font-semibold tabular-nums ${
        isDone ? "bg-good text-card" : "border border-edge text-muted"
      }`}
    >
      {isDone ? <Check size={14} strokeWidth={3} aria-hidden="true" /> : <span aria-hidden="true">{number}</span>}
      <span class="sr-only">{isDone ? "Done:" : `Step ${number}:`}</span>
    </span>
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone: boolean;
  isOpen: boolean;
  onToggle(): void;
  /** What came of it, or what it is for. */
  aside: ComponentChildren;
  children: ComponentChildren;
}

export function Step({ number, title, isDone, isOpen, onToggle, aside, children }: StepProps) {
  const id = useId();
  const head = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    // The step before has gone with the button that was pressed: the keyboard goes on here.
    if (isOpen && !wasOpen.current && document.activeElement === document.body) head.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <li class={number > 1 ? "border-t border-line" : ""}>
      <h2>
        <button
          ref={head}
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          class="flex w-full items-center gap-3 rounded-2xl p-4 text-left sm:px-6"
        >
          <Tick isDone={isDone} number={number} />
          <span class="shrink-0 text-16 font-semibold">{title}</span>
          <span dir="auto" class="ml-auto min-w-0 truncate text-13 text-muted">
            {aside}
          </span>
        </button>
      </h2>
      <div id={id} hidden={!isOpen} class="px-4 pb-6 sm:px-6 sm:pl-15">
        {isOpen && children}
      </div>
    </li>
  );
}
