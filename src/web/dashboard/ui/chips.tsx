/** Filters of a list as chips, whose state stands in the address. */
import { ChevronDown } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { TextField } from "./field.tsx";

export const chip =
  "flex min-h-7 shrink-0 items-center gap-1 rounded-full border border-strong bg-card px-3 text-13 hover:bg-sunken " +
  "pointer-coarse:min-h-9";
export const chosen = "border-accent bg-tint text-accent";

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  options: readonly { name: string; label: string }[];
  /** What holds where the address is silent; not set: none of the options. */
  usual?: string;
}

export function Choice({ label, name, value, options, usual = "" }: ChoiceProps) {
  const isChosen = value !== usual;
  return (
    <span class="relative max-w-full shrink-0">
      <select
        aria-label={label}
        class={`${chip} max-w-full appearance-none pr-8 [field-sizing:content] ${isChosen ? chosen : ""}`}
        value={value}
        onChange={({ currentTarget: { value: next } }) => replaceSearch({ [name]: next === usual ? null : next })}
      >
        {usual === "" && <option value="">{label}</option>}
        {options.map((option) => (
          <option key={option.name} value={option.name}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        size={14}
        aria-hidden="true"
        class={`pointer-events-none absolute inset-y-0 my-auto right-3 ${isChosen ? "text-accent" : ""}`}
      />
    </span>
  );
}

/** Chips in rows; on phones in one, which scrolls. */
export function Filters({ class: more = "", children }: { class?: string; children: ComponentChildren }) {
  return (
    <div class={`relative ${more}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: chips, not a set of fields. */}
      <div role="group" aria-label="Filters" class="chips flex gap-1.5 md:flex-wrap [scrollbar-width:none]">
        {children}
      </div>
    </div>
  );
}

/** On while the address has it as `true`. */
export function Toggle({ label, name }: { label: string; name: string }) {
  const isOn = useSearch().get(name) === "true";
  return (
    <button
      type="button"
      aria-pressed={isOn}
      class={`${chip} ${isOn ? chosen : ""}`}
      onClick={() => replaceSearch({ [name]: isOn ? null : "true" })}
    >
      {label}
    </button>
  );
}

/** Opens its fields below itself, until the focus goes elsewhere. */
export function Chip({ label, isChosen, children }: { label: string; isChosen: boolean; children: ComponentChildren }) {
  return (
    <details
      // On phones it hangs from the row, which would cut it.
      class="max-w-full shrink-0 md:relative"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false;
      }}
      onKeyDown={({ currentTarget, key }) => {
        if (key !== "Escape") return;
        currentTarget.open = false;
        currentTarget.querySelector("summary")?.focus();
      }}
    >
      <summary class={`${chip} max-w-full list-none ${isChosen ? chosen : ""}`}>
        <span dir="auto" class="truncate">
          {label}
        </span>
        <ChevronDown size={14} aria-hidden="true" />
      </summary>
      <div class="absolute z-20 mt-1 w-72 max-md:fixed max-md:left-4 rounded-lg border border-line bg-card p-3 floating">
        {children}
      </div>
    </details>
  );
}

/** The days from and to, as the address has them. */
export function DateChip() {
  const query = useSearch();
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""];
  const days = [from, to].filter(Boolean).join(" – ");
  return (
    <Chip label={days || "Date"} isChosen={days !== ""}>
      <div class="grid gap-3">
        <TextField label="From" type="date" value={from} onValue={(from) => replaceSearch({ from })} />
        <TextField label="To" type="date" value={to} onValue={(to) => replaceSearch({ to })} />
      </div>
    </Chip>
  );
}

/** The first or the last millisecond of a day, as the person at the screen counts days. */
export function edgeOf(day: string, isEnd: boolean): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return "";
  const edge = new Date(`${day}T00:00:00`);
  if (isEnd) edge.setDate(edge.getDate() + 1);
  return new Date(edge.getTime() - Number(isEnd)).toISOString();
}
