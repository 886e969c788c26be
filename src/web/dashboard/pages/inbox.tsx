/** `/app/inbox`: conversations that people have to do with, alive, beside the one that is open. */
import { useState } from "preact/hooks";
import { CompanionChip } from "../companion/companion-picker.tsx";
import { Rows, Split } from "../conversations/split.tsx";
import { ConversationPane } from "../inbox/conversation-pane.tsx";
import { inboxRows, isConnected, waitsFor } from "../inbox/feed.ts";
import { useEvery } from "../lib/load.ts";
import { inboxPath, navigate, replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Conversation, ListedConversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Button } from "../ui/button.tsx";
import { Choice, Filters, Toggle } from "../ui/chips.tsx";
import { PageHead } from "../ui/page.tsx";
import { Segments } from "../ui/segments.tsx";
import { Empty, Notice, Skeleton } from "../ui/states.tsx";

const perPage = 50;

const views = [
  { name: "waiting", label: "Waiting" },
  { name: "mine", label: "Mine" },
  { name: "open", label: "Open" },
  { name: "all", label: "All" },
] as const;
type View = (typeof views)[number]["name"];

function isIn(view: View, row: Conversation, ownId: string): boolean {
  if (view === "waiting") return row.state === "waiting" || waitsFor(row, ownId);
  if (view === "mine") return row.person?.id === ownId || row.assignee === ownId;
  if (view === "open") return row.status === "open";
  return true;
}

/** Who waits longest stands first, then what was written last. */
function order(one: Conversation, other: Conversation): number {
  const isWaiting = (row: Conversation) => Number(row.state === "waiting");
  if (isWaiting(one) !== isWaiting(other)) return isWaiting(other) - isWaiting(one);
  return one.updated_at < other.updated_at ? 1 : -1;
}

export default function InboxPage() {
  const ownId = personIdOf(useSession());
  const query = useSearch();
  const rows = use(inboxRows);
  const openId = query.get("c");
  const view = views.find(({ name }) => name === query.get("view"))?.name ?? "all";
  const [shown, setShown] = useState(perPage);
  // How long they wait.
  const [, setMinute] = useState(0);
  useEvery(60_000, () => setMinute(Date.now()));
  const [companionId, tag] = [query.get("companion_id") ?? "", query.get("tag") ?? ""];
  const isUnread = query.get("unread") === "true";
  const all = [...rows.values()];
  const filtered = all.filter(
    (row) =>
      (companionId === "" || row.companion_id === companionId) &&
      (tag === "" || row.tags?.includes(tag)) &&
      (!isUnread || (row.unread ?? 0) > 0),
  );
  const listed = filtered.filter((row) => isIn(view, row, ownId)).sort(order);
  const tags = [...new Set(all.flatMap((row) => row.tags ?? []))].sort();
  const isNarrow = companionId !== "" || tag !== "" || isUnread || view !== "all";

  return (
    <>
      <div class={openId === null ? "" : "max-md:hidden"}>
        <PageHead title="Inbox">
          <span class="max-md:hidden">Conversations that need a person.</span>
        </PageHead>
      </div>
      <Connection />
      <Split
        isOpen={openId !== null}
        list={
          <>
            <Views view={view} count={(name) => filtered.filter((row) => isIn(name, row, ownId)).length} />
            <Filters>
              <CompanionChip />
              {tags.length > 0 && (
                <Choice label="Tag" name="tag" value={tag} options={tags.map((tag) => ({ name: tag, label: tag }))} />
              )}
              <Toggle label="Unread" name="unread" />
            </Filters>
            <List rows={listed.slice(0, shown)} view={view} openId={openId} isNarrow={isNarrow} />
            {listed.length > shown && <Button onClick={() => setShown(shown + perPage)}>Show more</Button>}
          </>
        }
      >
        {openId !== null && (
          <ConversationPane
            key={openId}
            id={openId}
            back={{ href: pathOf(null), label: "Back to the inbox" }}
            onGone={() => navigate(pathOf(null), { replace: true })}
          />
        )}
      </Split>
    </>
  );
}

/** Silent as long as all is well. */
function Connection() {
  if (use(isConnected) !== false) return null;
  return (
    <Notice class="mb-4">
      <span role="status">The connection is lost. What you write is kept, and sent when it is back.</span>
    </Notice>
  );
}

function Views({ view, count }: { view: View; count(name: View): number }) {
  // As long as all are open, these would be twice the same.
  const isOpenAll = view !== "open" && count("open") === count("all");
  const options = views
    .filter(({ name }) => name !== "open" || !isOpenAll)
    .map(({ name, label }) => [
      name,
      <>
        {label} <span class="tabular-nums">{count(name)}</span>
      </>,
    ]);
  return (
    <Segments
      label="Which conversations"
      class="w-full"
      value={view}
      onValue={(name) => replaceSearch({ view: name === "all" ? null : name })}
      options={Object.fromEntries(options)}
    />
  );
}

interface ListProps {
  rows: readonly ListedConversation[];
  view: View;
  openId: string | null;
  isNarrow: boolean;
}

function List({ rows, view, openId, isNarrow }: ListProps) {
  const connected = use(isConnected);
  if (rows.length === 0 && connected === null) return <Skeleton />;
  if (rows.length === 0) {
    return isNarrow ? (
      <Empty title="Nothing here">No conversation matches this filter.</Empty>
    ) : (
      <Empty title="All quiet">Conversations appear here as soon as a visitor asks for a person.</Empty>
    );
  }
  return <Rows label="Inbox" rows={rows} view={view} openId={openId} hrefOf={pathOf} />;
}

/** The page as it is, with another conversation. */
function pathOf(id: string | null): string {
  const query = new URLSearchParams(location.search);
  if (id === null) query.delete("c");
  else query.set("c", id);
  return query.size === 0 ? inboxPath : `${inboxPath}?${query}`;
}
