/** Short messages about what was done, shown for a moment and read out. */
import { useEffect } from "preact/hooks";
import { State, use } from "../lib/state.ts";

const current = new State<{ text: string } | null>(null);

export function say(text: string): void {
  current.value = { text };
}

export function Toast() {
  const value = use(current);
  useEffect(() => {
    if (value === null) return;
    const timer = setTimeout(() => {
      if (current.value === value) current.value = null;
    }, 4000);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div aria-live="polite" class="pointer-events-none fixed inset-x-0 bottom-5 z-50 flex justify-center px-4">
      {value && (
        <p class="animate-[rise_160ms_ease-out] rounded-xl bg-ink px-4 py-2.5 text-14 text-ground [box-shadow:0_10px_15px_-3px_rgb(0_0_0/10%)]">
          {value.text}
        </p>
      )}
    </div>
  );
}
