/** `/app/companions/:id/conversations`: what visitors said to this one companion. */
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { Rows } from "../conversations/split.tsx";
import { useEvery, useList } from "../lib/load.ts";
import type { ListedConversation } from "../lib/types.ts";
import { ShowMore } from "../ui/list.tsx";
import { Empty, Pending, Problem } from "../ui/states.tsx";

const pollMs = 5000;

export default companionPage(Conversations);

function Conversations({ companion: { id: companionId } }: CompanionPageProps) {
  const list = useList<ListedConversation>("/api/conversations", { companion_id: companionId, include: "excerpts" });
  const { items, error, isLoading, isLoadingMore } = list;
  useEvery(pollMs, () => {
    if (!isLoading && !isLoadingMore) void list.reload();
  });
  if (items.length === 0) {
    if (isLoading || error !== null) return <Pending of={list} lines={6} />;
    return <Empty title="No conversations yet">They appear here as soon as a visitor writes.</Empty>;
  }
  return (
    <>
      <p class="mb-4 text-muted">
        Updates live.{" "}
        <a href={`/app/conversations?companion_id=${companionId}`} class="text-accent underline">
          Search and filter
        </a>
      </p>
      <Problem error={error} class="mb-4" />
      <Rows
        label="Conversations"
        rows={items}
        openId={null}
        hrefOf={(id) => `/app/conversations/${id}`}
        hasCompanion={false}
      >
        {list.hasMore && (
          <ShowMore class="border-t border-line p-3" isBusy={list.isLoadingMore} onMore={list.loadMore} />
        )}
      </Rows>
    </>
  );
}
