/** Short messages about what was done: read out, shown for a moment away from what was clicked, and dismissed by a click. */
import { X } from "lucide-preact";
import { useEffect, useRef } from "preact/hooks";
import { State, use } from "../lib/state.ts";

const current = new State<{ text: string; isLow: boolean } | null>(null);
const shownMs = 5000;
/** What is clicked higher than this, in pixels, would be covered by a message at the top. */
const topAreaPx = 160;

let clickedAtPx = Number.POSITIVE_INFINITY;
document.addEventListener("pointerdown", ({ clientY }) => {
  clickedAtPx = clientY;
});

export function say(text: string): void {
  current.value = { text, isLow: clickedAtPx < topAreaPx };
}

export function Toast() {
  const value = use(current);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const region = ref.current;
    // Always shown, so that it is read out; shown again for each message, to lie over a dialog that was opened since.
    if (region?.matches(":popover-open")) region.hidePopover();
    region?.showPopover();
    if (value === null) return;
    const timer = setTimeout(() => {
      if (current.value === value) current.value = null;
    }, shownMs);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div
      ref={ref}
      popover="manual"
      aria-live="polite"
      class={`pointer-events-none fixed inset-x-0 m-0 w-full bg-transparent p-0 flex justify-center px-4 ${value?.isLow ? "top-auto bottom-4" : "top-4 bottom-auto"}`}
    >
      {value && (
        <div class="pointer-events-auto flex animate-[rise_140ms_ease-out] items-center gap-2 rounded-lg bg-ink py-2 pr-2 pl-4 text-14 text-ground floating">
          <p>{value.text}</p>
          <button
            type="button"
            aria-label="Dismiss"
            class="grid size-6 place-items-center rounded-md opacity-70 hover:opacity-100"
            onClick={() => {
              current.value = null;
            }}
          >
            <X size={16} aria-hidden="true" />
          </button>
        </div>
      )}
    </div>
  );
}
