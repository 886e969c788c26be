/** `/app/audit`: who changed what, when, from where. */
import { hrefOf, kinds, phraseOf } from "../audit/phrases.ts";
import { shortId } from "../lib/format.ts";
import { useList, useLoad } from "../lib/load.ts";
import { useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { ApiKey, AuditEntry, Json, Member, Page } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Choice, DateChip, edgeOf, Filters } from "../ui/chips.tsx";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

const columns: readonly Column<AuditEntry>[] = [
  {
    title: "What",
    cell: (entry) => (
      <span class="min-w-0">
        <Sentence entry={entry} />
        <Details details={entry.details} />
      </span>
    ),
  },
  { title: "From", cell: ({ actor }) => <code class="font-mono text-13 text-muted">{actor.ip ?? "–"}</code> },
  { title: "When", class: "whitespace-nowrap text-muted", cell: ({ created_at }) => <Time at={created_at} /> },
];

export default function AuditPage() {
  const query = useSearch();
  const value = (name: string) => query.get(name) ?? "";
  const filters = {
    action: kinds.find(({ name }) => name === value("action"))?.name ?? "",
    actor: value("actor"),
    from: edgeOf(value("from"), false),
    to: edgeOf(value("to"), true),
  };
  const list = useList<AuditEntry>("/api/audit", filters);
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      <PageHead title="Audit trail">Every change to companions, tokens, keys and accounts, and every sign-in.</PageHead>
      <Filters class="mb-4">
        <Choice label="Kind" name="action" value={filters.action} options={kinds} />
        <Choice label="By" name="actor" value={filters.actor} options={useActors()} />
        <DateChip />
      </Filters>
      <List
        label="Audit trail"
        columns={columns}
        list={list}
        empty={
          isFiltered && !list.hasMore ? (
            <Empty title="No entry matches">Remove a filter.</Empty>
          ) : (
            <Empty title={isFiltered ? "No entry matches so far" : "Nothing has happened yet"} />
          )
        }
      />
      {list.items.length === 0 && list.hasMore && (
        <Button isBusy={list.isLoadingMore} onClick={() => void list.loadMore()}>
          Search further
        </Button>
      )}
    </>
  );
}

function useActors() {
  const { account } = useSession();
  const members = useLoad<Page<Member>>("/api/members?limit=1000");
  const keys = useLoad<Page<ApiKey>>("/api/keys?limit=1000");
  return [
    { name: account.id, label: "Account owner" },
    ...(members.data?.data ?? []).map(({ id, name, email }) => ({ name: id, label: name || email })),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({ name: id, label: `Key ${name}` })),
    { name: "operator", label: "Operators" },
    { name: "cli", label: "Command line" },
    { name: "system", label: "The server" },
  ];
}

function Sentence({ entry }: { entry: AuditEntry }) {
  const { before, after } = phraseOf(entry);
  return (
    <span class="text-pretty wrap-anywhere">
      <bdi class="font-medium">{actorName(entry.actor)}</bdi> {before}
      {after !== null && <Target entry={entry} />}
      {after}
    </span>
  );
}

function actorName({ kind, id, name }: AuditEntry["actor"]): string {
  if (kind === "key") return `Key ${name ?? `…${shortId(id ?? "")}`}`;
  if (name !== null) return name;
  const names = { operator: "An operator", visitor: "The visitor", model: "The model", clock: "The clock" };
  return { ...names, session: "Someone", cli: "The command line", system: "The server" }[kind];
}

function Target({ entry }: { entry: AuditEntry }) {
  const { target_id, target_name } = entry;
  const href = hrefOf(entry);
  const name =
    target_name === null ? (
      <code class="font-mono text-13 text-muted">…{shortId(target_id ?? "")}</code>
    ) : (
      <bdi class="font-medium">{target_name}</bdi>
    );
  return href === null ? (
    name
  ) : (
    <a href={href} class="hover:text-accent hover:underline">
      {name}
    </a>
  );
}

/** What the sentence doesn't have. */
function Details({ details }: { details: { [key: string]: Json } }) {
  const { changed: _, name: __, companion_id: ___, ...others } = details;
  const words = Object.entries(others).map(([name, value]) => `${name.replaceAll("_", " ")}: ${toText(value)}`);
  if (words.length === 0) return null;
  return (
    <span dir="auto" class="block max-w-96 text-13 text-muted wrap-anywhere">
      {words.join(", ")}
    </span>
  );
}

function toText(value: Json): string {
  if (Array.isArray(value)) return value.map(toText).join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
