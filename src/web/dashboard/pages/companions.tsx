/** `/app/companions`: the account's companions, found by name, ID or metadata. */
import { Plus } from "lucide-preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { useCompanionColumns } from "../companion/companion-columns.tsx";
import type { Query } from "../lib/api.ts";
import { useList, useSettled } from "../lib/load.ts";
import { useRemembered } from "../lib/remembered.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Companion } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { List, SearchField } from "../ui/list.tsx";
import { PageHead } from "../ui/page.tsx";
import { Empty, Notice } from "../ui/states.tsx";

const MetadataFilter = lazy(async () => (await import("../companion/metadata-filter.tsx")).MetadataFilter);
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
  const columns = useCompanionColumns();
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
      <div class="mb-4 flex flex-wrap items-center gap-2" hidden={!wasFull.current}>
        <SearchField
          class="w-full lg:max-w-md"
          label="Search by name or ID"
          value={text}
          onValue={(value) => {
            setText(value);
            replaceSearch({ q: value.trim() });
          }}
        />
        {wasFull.current && <MetadataFilter filters={filters} />}
      </div>
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
