/** What a list of conversations is narrowed to: chips, whose state stands in the address. */
import { X } from "lucide-preact";
import { useState } from "preact/hooks";
import { CompanionChip } from "../companion/companion-picker.tsx";
import type { Query } from "../lib/api.ts";
import { useSettled } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { Choice, chip, DateChip, edgeOf, Filters as Row, Toggle } from "../ui/chips.tsx";
import { SearchField } from "../ui/list.tsx";

const kinds: readonly { name: string; label: string; query: Query }[] = [
  { name: "open", label: "Open", query: { status: "open" } },
  { name: "answered", label: "Answered", query: { status: "answered" } },
  { name: "closed", label: "Closed", query: { status: "closed" } },
  { name: "unread", label: "Unread", query: { unread: "true" } },
  { name: "up", label: "Rated as good", query: { rating: "up" } },
  { name: "down", label: "Rated as bad", query: { rating: "down" } },
];
const switches = [
  { name: "unanswered", label: "Not in sources" },
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

export function Filters() {
  const query = useSearch();
  const value = (name: string) => query.get(name) ?? "";
  const [text, setText] = useState(value("q"));
  const visitor = value("visitor_sub") || value("visitor_id");

  return (
    <>
      <SearchField
        data-key="/"
        label="Search in messages"
        maxLength={200}
        value={text}
        onValue={(value) => {
          setText(value);
          replaceSearch({ q: value.trim() });
        }}
      />
      <Row>
        <CompanionChip />
        <DateChip />
        {switches.map(({ name, label }) => (
          <Toggle key={name} label={label} name={name} />
        ))}
        <Choice label="Channel" name="channel" value={value("channel")} options={[...channels]} />
        <Choice label="Status" name="kind" value={value("kind")} options={kinds} />
      </Row>
      {visitor && (
        <p class="flex items-center gap-2 text-13 text-muted">
          {/* Cut at its own end, whichever direction it is written in. */}
          <span class="flex min-w-0 gap-1">
            Visitor:{" "}
            <span dir="auto" class="truncate">
              {visitor}
            </span>
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
