/** `/app/unanswered`: of all companions, what visitors asked and no source had anything on, and sources that could not be read. */
import { Unanswered } from "../knowledge/unanswered.tsx";
import { call } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useAction, useList } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { AccountQuestion, AccountSource } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/page.tsx";
import { Row, RowList } from "../ui/row-list.tsx";
import { Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const knowledgeOf = (companionId: string) => `/app/companions/${companionId}/knowledge`;

export default function UnansweredPage() {
  const list = useList<AccountQuestion>("/api/unanswered");
  const failed = useList<AccountSource>("/api/sources", { status: "failed" });
  const names = useCompanionNames([...list.items, ...failed.items].map(({ companion_id }) => companion_id));
  return (
    <>
      <PageHead title="Knowledge gaps">Questions your sources had nothing on. An answer becomes a source.</PageHead>
      <div class="space-y-8">
        {failed.items.length > 0 && <FailedSources list={failed} names={names} />}
        <Unanswered
          path={({ companion_id }) => `/api/companions/${companion_id}/unanswered`}
          list={list}
          sourcesHref={({ companion_id }) => knowledgeOf(companion_id)}
          nameOf={({ companion_id }) => names[companion_id] ?? ""}
          onAnswered={() => {}}
        />
      </div>
    </>
  );
}

interface FailedSourcesProps {
  list: ReturnType<typeof useList<AccountSource>>;
  names: Record<string, string>;
}

function FailedSources({ list, names }: FailedSourcesProps) {
  const mayChange = useSession().scopes.includes("knowledge:write");
  const refresh = useAction(async ({ companion_id, id }: AccountSource) => {
    await call("POST", `/api/companions/${companion_id}/sources/${id}/refresh`);
    list.update((items) => items.filter((item) => item.id !== id));
    say("We're reading it again.");
  });
  return (
    <section aria-labelledby="failed-sources">
      <h2 id="failed-sources" class="text-16 font-semibold">
        Sources that couldn't be read
      </h2>
      <p class="mb-4 text-14 text-pretty text-muted">Replies use the last version that was read, if there is one.</p>
      <Problem error={refresh.error} class="mb-4" />
      <RowList label="Sources that couldn't be read" list={list} empty={null}>
        {(source) => (
          <Row
            key={source.id}
            actions={
              mayChange &&
              (source.type === "url" || source.type === "sitemap") && (
                <Button isBusy={refresh.isBusy} onClick={() => void refresh.run(source)}>
                  Refresh<span class="sr-only"> {source.title}</span>
                </Button>
              )
            }
          >
            <a href={knowledgeOf(source.companion_id)} dir="auto" class="font-medium wrap-anywhere hover:underline">
              {source.title}
            </a>
            <p class="text-13 text-muted">
              <bdi>{names[source.companion_id]}</bdi>
            </p>
            {source.error !== null && <p class="mt-0.5 text-13 text-bad wrap-anywhere">{source.error}</p>}
          </Row>
        )}
      </RowList>
    </section>
  );
}
