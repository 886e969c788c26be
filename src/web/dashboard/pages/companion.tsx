/** `/app/companions/:id`: a companion's home, with how it does and where it is seen. */
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { SeenOn } from "../companion/seen-on.tsx";
import { Week } from "../companion/week.tsx";
import { Rows } from "../conversations/split.tsx";
import { toSearch } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, ListedConversation, Page } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Empty, Pending } from "../ui/states.tsx";

export default companionPage(Overview);

function Overview({ companion }: CompanionPageProps) {
  const { scopes } = useSession();
  return (
    <div class="space-y-8">
      <SeenOn companion={companion} />
      {scopes.includes("usage:read") && <Week companion={companion} />}
      {scopes.includes("conversations:read") && <Latest companion={companion} />}
    </div>
  );
}

function Latest({ companion: { id } }: { companion: Companion }) {
  const base = `/app/companions/${id}`;
  const query = { companion_id: id, limit: 5, include: "excerpts" };
  const latest = useLoad<Page<ListedConversation>>(`/api/conversations${toSearch(query)}`);
  return (
    <section aria-labelledby="latest">
      <div class="mb-3 flex items-baseline justify-between gap-4">
        <h2 id="latest" class="text-16 font-semibold">
          Latest conversations
        </h2>
        {latest.data && latest.data.data.length > 0 && (
          <a href={`${base}/conversations`} class="text-accent underline">
            See all
          </a>
        )}
      </div>
      {latest.data === null ? (
        <Pending of={latest} lines={5} />
      ) : latest.data.data.length === 0 ? (
        <Empty
          title="No conversations yet"
          action={<ButtonLink href={`${base}/playground`}>Try it in the playground</ButtonLink>}
        >
          They appear here as soon as a visitor writes.
        </Empty>
      ) : (
        <Rows
          label="Latest conversations"
          rows={latest.data.data}
          openId={null}
          hrefOf={(id) => `/app/conversations/${id}`}
          hasCompanion={false}
        />
      )}
    </section>
  );
}
