/** `/app/companions/:id/knowledge`: what a companion may read, what is found there, and what is missing. */
import { CompanionFrame } from "../companion/companion-frame.tsx";
import { AddSources } from "../knowledge/add-sources.tsx";
import { SourceList } from "../knowledge/source-list.tsx";
import { TryQuestion } from "../knowledge/try-question.tsx";
import { Unanswered } from "../knowledge/unanswered.tsx";
import { useUploads } from "../knowledge/uploads.tsx";
import { useSources } from "../knowledge/use-sources.ts";
import { useList } from "../lib/load.ts";
import { type Params, useLeaveGuard, useSearch } from "../lib/router.ts";
import type { Companion, UnansweredQuestion } from "../lib/types.ts";

export default function KnowledgePage({ params }: { params: Params }) {
  return (
    <CompanionFrame id={params.id ?? ""}>
      {(companion) => <Knowledge key={companion.id} companion={companion} />}
    </CompanionFrame>
  );
}

function Knowledge({ companion }: { companion: Companion }) {
  const api = `/api/companions/${companion.id}`;
  const base = `/app/companions/${companion.id}`;
  const here = `${base}/knowledge`;
  const show = useSearch().get("show") ?? "sources";
  const sources = useSources(companion.id);
  const uploads = useUploads(`${api}/sources`, sources.put);
  const unanswered = useList<UnansweredQuestion>(`${api}/unanswered`);
  useLeaveGuard(uploads.isBusy);
  const open = unanswered.items.length;
  return (
    <>
      <div class="mb-5 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <nav aria-label="Knowledge" class="flex max-w-full overflow-x-auto rounded-[0.6rem] bg-sunken p-0.5">
          <View href={here} isHere={show === "sources"} label="Sources" />
          <View href={`${here}?show=try`} isHere={show === "try"} label="Try a question" />
          <View
            href={`${here}?show=unanswered`}
            isHere={show === "unanswered"}
            label={open === 0 ? "Unanswered" : `Unanswered (${open}${unanswered.hasMore ? "+" : ""})`}
          />
        </nav>
        <p class="text-[0.94rem] text-pretty text-muted">
          {companion.answer_mode === "grounded"
            ? "Answers only from its sources. "
            : "Answers also from what the model knows. "}
          <a href={base} class="text-accent underline">
            Change in the settings
          </a>
        </p>
      </div>
      {show === "try" ? (
        <TryQuestion companionId={companion.id} hasSources={sources.items?.length !== 0} sourcesHref={here} />
      ) : show === "unanswered" ? (
        <Unanswered path={`${api}/unanswered`} list={unanswered} sourcesHref={here} onAnswered={sources.put} />
      ) : (
        <div class="space-y-6">
          <AddSources path={`${api}/sources`} uploads={uploads} onAdded={sources.put} />
          <SourceList path={`${api}/sources`} sources={sources} />
        </div>
      )}
    </>
  );
}

function View({ href, isHere, label }: { href: string; isHere: boolean; label: string }) {
  return (
    <a
      href={href}
      aria-current={isHere ? "page" : undefined}
      class={`shrink-0 rounded-[0.5rem] px-3 py-1 text-[0.94rem] font-medium ${isHere ? "bg-card text-ink" : "text-muted hover:text-ink"}`}
    >
      {label}
    </a>
  );
}
