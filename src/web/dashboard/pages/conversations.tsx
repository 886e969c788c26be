/** `/app/conversations` and `/app/conversations/:id`: what visitors said, newest first, beside the one that is open. */
import { Filters, useFilters } from "../conversations/filters.tsx";
import { Rows, Split } from "../conversations/split.tsx";
import { ConversationPane } from "../inbox/conversation-pane.tsx";
import { useEvery, useList } from "../lib/load.ts";
import { navigate, type Params, useSearch } from "../lib/router.ts";
import type { ListedConversation } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { ListFrame, ShowMore } from "../ui/list.tsx";
import { PageHead } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

const pollMs = 5000;
const listPath = "/app/conversations";

export default function ConversationsPage({ params }: { params: Params }) {
  const openId = params.id ?? null;
  const search = useSearch();
  const { filters, isFiltered } = useFilters();
  const list = useList<ListedConversation>("/api/conversations", { ...filters, include: "excerpts" });
  useEvery(pollMs, () => {
    if (!list.isLoading && !list.isLoadingMore) void list.reload();
  });
  const hrefOf = (id: string | null) =>
    `${listPath}${id === null ? "" : `/${id}`}${search.size === 0 ? "" : `?${search}`}`;
  const isUnused = list.items.length === 0 && !list.isLoading && list.error === null && !isFiltered;

  return (
    <>
      <div class={openId === null ? "" : "max-md:hidden"}>
        <PageHead title="Conversations">
          <span class="max-md:hidden">What visitors asked, and what they were answered. Updates live.</span>
        </PageHead>
      </div>
      {isUnused && openId === null ? (
        <Empty title="No conversations yet">
          Conversations appear here as soon as a visitor writes to one of your companions.
        </Empty>
      ) : (
        <Split
          isOpen={openId !== null}
          list={
            <>
              <Filters />
              <ListFrame
                // Inside the scrolled part.
                list={{ ...list, hasMore: false }}
                empty={<Empty title="No conversation matches">Try other words, or remove a filter.</Empty>}
              >
                {() => (
                  <Rows label="Conversations" rows={list.items} openId={openId} hrefOf={hrefOf}>
                    {list.hasMore && (
                      <ShowMore class="border-t border-line p-3" isBusy={list.isLoadingMore} onMore={list.loadMore} />
                    )}
                  </Rows>
                )}
              </ListFrame>
              {list.items.length === 0 && list.hasMore && (
                <Button isBusy={list.isLoadingMore} onClick={() => void list.loadMore()}>
                  Search further
                </Button>
              )}
            </>
          }
        >
          {openId !== null && (
            <ConversationPane
              key={openId}
              id={openId}
              back={{ href: hrefOf(null), label: "Back to the conversations" }}
              onGone={() => {
                navigate(hrefOf(null), { replace: true });
                void list.reload();
              }}
            />
          )}
        </Split>
      )}
    </>
  );
}
