/** `/app/companions`: the account's companions, found by name, ID or metadata. */
import { Plus, Search, X } from "lucide-preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Avatar } from "../companion/avatar.tsx";
import type { Query } from "../lib/api.ts";
import { useList, useSettled } from "../lib/load.ts";
import { useRemembered } from "../lib/remembered.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, Json } from "../lib/types.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty, Notice } from "../ui/states.tsx";

const FirstRunCard = lazy(async () => (await import("../first-run/card.tsx")).FirstRunCard);

const newButton = (kind: "primary" | "secondary") => (
  <ButtonLink href="/app/companions/new" kind={kind}>
    <Plus size={17} aria-hidden="true" />
    New companion
  </ButtonLink>
);

export default function CompanionsPage() {
  const { server, scopes } = useSession();
  const canWrite = scopes.includes("companions:write");
  const query = useSearch();
  const [text, setText] = useState(query.get("q") ?? "");
  const q = useSettled(text.trim());
  const filters = [...query].filter(([name]) => name.startsWith("metadata."));
  const filterKey = JSON.stringify(filters);
  const asked = useMemo<Query>(() => ({ q, ...Object.fromEntries(JSON.parse(filterKey)) }), [q, filterKey]);
  const list = useList<Companion>("/api/companions", asked);
  const isFiltered = q !== "" || filters.length > 0;
  // Once there is something to search, the field stays: it may have the focus.
  const wasFull = useRef(false);
  if (isFiltered || text !== "" || list.items.length > 0) wasFull.current = true;
  const [isClosed, close] = useRemembered("start-closed");
  const isEmpty = !isFiltered && !list.isLoading && list.error === null && list.items.length === 0;
  // More, or any that was seen, are no first ones.
  const isFirst = !list.hasMore && list.items.length < 4 && list.items.every(({ seen_on }) => seen_on.length === 0);
  const isStarting = canWrite && !isFiltered && !list.isLoading && list.error === null && isFirst;

  // The steps have the page's one button that calls.
  const actions = canWrite && newButton(isStarting && isEmpty ? "secondary" : "primary");
  return (
    <>
      <PageHead title="Companions" actions={actions}>
        The assistants on your websites.
      </PageHead>
      {isStarting && (isEmpty || !isClosed) && <FirstRunCard onClose={isEmpty ? undefined : close} />}
      <div class="mb-4 flex flex-wrap gap-2" hidden={!wasFull.current}>
        <div class="relative min-w-0 flex-1 basis-60">
          <Search size={17} aria-hidden="true" class="absolute top-1/2 left-3 -translate-y-1/2 text-muted" />
          <input
            type="search"
            aria-label="Search by name or ID"
            placeholder="Search by name or ID"
            class="control pl-9"
            value={text}
            onInput={({ currentTarget: { value } }) => {
              setText(value);
              replaceSearch({ q: value.trim() });
            }}
          />
        </div>
        <FilterForm />
      </div>
      {filters.length > 0 && (
        <ul class="mb-4 flex flex-wrap gap-2" aria-label="Filters">
          {filters.map(([name, value]) => (
            <li key={name}>
              <button
                type="button"
                onClick={() => replaceSearch({ [name]: null })}
                aria-label={`Remove the filter ${name} = ${value}`}
                class="inline-flex max-w-full items-center gap-1.5 rounded-full bg-tint px-3 py-1 font-mono text-13 text-accent wrap-anywhere"
              >
                {name.slice("metadata.".length)} = {value}
                <X size={14} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {server.demo_page && (
        <Notice tone="neutral" class="mb-4">
          The demo's companion isn't in this list: it belongs to the demo and can't be changed.{" "}
          <a href={server.demo_page} target="_blank" class="font-medium text-accent underline" rel="noreferrer">
            Open chat page
          </a>
        </Notice>
      )}
      {!(isStarting && isEmpty) && (
        <List
          label="Companions"
          columns={columns}
          list={list}
          empty={
            isFiltered ? (
              <Empty title="No companion matches">Try another part of the name, or remove a filter.</Empty>
            ) : (
              <Empty title="No companions yet" action={actions}>
                All you need is a name. You can fill in the rest later.
              </Empty>
            )
          }
        />
      )}
    </>
  );
}

const columns: readonly Column<Companion>[] = [
  {
    title: "Name",

    cell: (companion) => (
      <span class="flex min-w-0 items-center gap-3">
        <Avatar companion={companion} />
        <span class="min-w-0">
          <a
            href={`/app/companions/${companion.id}`}
            dir="auto"
            class="font-medium wrap-anywhere hover:text-accent hover:underline"
          >
            {companion.name}
          </a>
          {!companion.enabled && (
            <span class="ml-2">
              <Badge tone="warn">Paused</Badge>
            </span>
          )}
        </span>
      </span>
    ),
  },
  { title: "Metadata", cell: (companion) => <MetadataCell metadata={companion.metadata} /> },
  {
    title: "Changed",
    onPhone: "titled",
    class: "md:w-px whitespace-nowrap text-muted",
    cell: (companion) => <Time at={companion.updated_at} />,
  },
];

function MetadataCell({ metadata }: { metadata: { [key: string]: Json } }) {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return null;
  return (
    <span class="flex min-w-0 flex-wrap gap-1.5">
      {entries.slice(0, 3).map(([name, value]) => (
        <span
          key={name}
          dir="auto"
          class="max-w-56 truncate rounded-md bg-sunken px-1.5 py-0.5 font-mono text-12 text-muted"
        >
          {name}: {typeof value === "string" ? value : JSON.stringify(value)}
        </span>
      ))}
      {entries.length > 3 && <span class="text-13 text-muted">+{entries.length - 3}</span>}
    </span>
  );
}

function FilterForm() {
  const [field, setField] = useState("");
  const [value, setValue] = useState("");
  const isReady = field.trim() !== "" && value !== "";
  return (
    // Not the form of the other pages: the fields beside it would come with the first load.
    <form
      class="flex min-w-0 flex-1 basis-72 gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        replaceSearch({ [`metadata.${field.trim()}`]: value });
        setField("");
        setValue("");
      }}
    >
      <input
        aria-label="Metadata field"
        placeholder="Metadata field"
        dir="ltr"
        class="control min-w-0 font-mono text-[0.9em]"
        value={field}
        onInput={(event) => setField(event.currentTarget.value)}
      />
      <input
        aria-label="Metadata value"
        placeholder="Value"
        class="control min-w-0 font-mono text-[0.9em]"
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!isReady}>
        Filter
      </Button>
    </form>
  );
}
