/** What a list of conversations is narrowed to: chips, whose state stands in the address. */
import { ChevronDown, Search, X } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CompanionPicker } from "../companion/companion-picker.tsx";
import type { Query } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useSettled } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { TextField } from "../ui/field.tsx";

const kinds: readonly { name: string; label: string; query: Query }[] = [
  { name: "open", label: "Open", query: { status: "open" } },
  { name: "answered", label: "Answered", query: { status: "answered" } },
  { name: "closed", label: "Closed", query: { status: "closed" } },
  { name: "unread", label: "Unread", query: { unread: "true" } },
  { name: "up", label: "Rated as good", query: { rating: "up" } },
  { name: "down", label: "Rated as bad", query: { rating: "down" } },
];
const switches = [
  { name: "unanswered", label: "Unanswered" },
  { name: "failed", label: "Failed" },
  { name: "verified", label: "Verified" },
] as const;

/** The address's filters as the API's query, but for the search, which follows when typing has settled. */
export function useFilters(): { filters: Query; isFiltered: boolean; visitor: string } {
  const query = useSearch();
  const value = (name: string) => query.get(name) ?? "";
  const filters = {
    companion_id: value("companion_id"),
    visitor_id: value("visitor_id"),
    visitor_sub: value("visitor_sub"),
    from: edgeOf(value("from"), false),
    to: edgeOf(value("to"), true),
    ...Object.fromEntries(switches.map(({ name }) => [name, value(name) === "true" ? "true" : ""])),
    channel: ["text", "voice"].includes(value("channel")) ? value("channel") : "",
    q: useSettled(value("q")),
    ...kinds.find(({ name }) => name === value("kind"))?.query,
  };
  const visitor = filters.visitor_sub || filters.visitor_id;
  return { filters, isFiltered: Object.values(filters).some(Boolean), visitor };
}

const chip =
  "inline-flex min-h-7 items-center gap-1 rounded-full border border-strong bg-card px-2.5 text-13 hover:bg-sunken " +
  "pointer-coarse:min-h-9";
const chosen = "border-accent bg-tint text-accent";

export function Filters() {
  const query = useSearch();
  const value = (name: string) => query.get(name) ?? "";
  const [text, setText] = useState(value("q"));
  const companionId = value("companion_id");
  const names = useCompanionNames([companionId]);
  const visitor = value("visitor_sub") || value("visitor_id");
  const days = [value("from"), value("to")].filter(Boolean).join(" – ");

  return (
    <>
      <div class="relative">
        <Search size={16} aria-hidden="true" class="absolute top-1/2 left-3 -translate-y-1/2 text-muted" />
        <input
          type="search"
          data-key="/"
          aria-label="Search in messages"
          placeholder="Search in messages"
          maxLength={200}
          class="control pl-9"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            replaceSearch({ q: currentTarget.value.trim() });
          }}
        />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: chips, not a set of fields. */}
      <div role="group" aria-label="Filters" class="flex flex-wrap gap-1.5">
        <Chip label={companionId ? (names[companionId] ?? "One companion") : "Companion"} isChosen={companionId !== ""}>
          <CompanionPicker value={companionId} onValue={(companion_id) => replaceSearch({ companion_id })} />
        </Chip>
        <Chip label={days || "Date"} isChosen={days !== ""}>
          <div class="grid gap-3">
            <TextField label="From" type="date" value={value("from")} onValue={(from) => replaceSearch({ from })} />
            <TextField label="To" type="date" value={value("to")} onValue={(to) => replaceSearch({ to })} />
          </div>
        </Chip>
        {switches.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            aria-pressed={value(name) === "true"}
            class={`${chip} ${value(name) === "true" ? chosen : ""}`}
            onClick={() => replaceSearch({ [name]: value(name) === "true" ? null : "true" })}
          >
            {label}
          </button>
        ))}
        <Choice label="Channel" name="channel" value={value("channel")} options={[...channels]} />
        <Choice label="Kind" name="kind" value={value("kind")} options={kinds} />
      </div>
      {visitor && (
        <p class="flex items-center gap-2 text-13 text-muted">
          <span class="min-w-0 truncate">
            Visitor: <span dir="auto">{visitor}</span>
          </span>
          <button type="button" class={chip} onClick={() => replaceSearch({ visitor_id: null, visitor_sub: null })}>
            <X size={14} aria-hidden="true" />
            Show all
          </button>
        </p>
      )}
    </>
  );
}

const channels = [
  { name: "text", label: "Text" },
  { name: "voice", label: "Voice" },
] as const;

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  options: readonly { name: string; label: string }[];
}

function Choice({ label, name, value, options }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={`${chip} [field-sizing:content] ${value ? chosen : ""}`}
      value={value}
      onChange={({ currentTarget }) => replaceSearch({ [name]: currentTarget.value })}
    >
      <option value="">{label}</option>
      {options.map((option) => (
        <option key={option.name} value={option.name}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** Opens its fields below itself, until the focus goes elsewhere. */
function Chip({ label, isChosen, children }: { label: string; isChosen: boolean; children: ComponentChildren }) {
  return (
    <details
      class="relative max-w-full"
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
      <div class="absolute left-0 z-20 mt-1 w-64 rounded-lg border border-line bg-card p-3 [box-shadow:0_12px_32px_--alpha(var(--color-shade)/16%)]">
        {children}
      </div>
    </details>
  );
}

/** The first or the last millisecond of a day, as the person at the screen counts days. */
function edgeOf(day: string, isEnd: boolean): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return "";
  const edge = new Date(`${day}T00:00:00`);
  if (isEnd) edge.setDate(edge.getDate() + 1);
  return new Date(edge.getTime() - Number(isEnd)).toISOString();
}
