/** `/app/companions/:id/knowledge`: what a companion may read, what is found there, and what is missing. */
import { Search } from "lucide-preact";
import { useState } from "preact/hooks";
import { type CompanionPageProps, companionPage } from "../companion/companion-frame.tsx";
import { AddSources } from "../knowledge/add-sources.tsx";
import { PassageText } from "../knowledge/passages.tsx";
import { SourceList } from "../knowledge/source-list.tsx";
import { Unanswered } from "../knowledge/unanswered.tsx";
import { useUploads } from "../knowledge/uploads.tsx";
import { useSources } from "../knowledge/use-sources.ts";
import { call } from "../lib/api.ts";
import { countOf } from "../lib/format.ts";
import { useAction, useList } from "../lib/load.ts";
import { useLeaveGuard, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { KnowledgeFound, UnansweredQuestion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Empty, Notice, Problem } from "../ui/states.tsx";

export default companionPage(Knowledge);

function Knowledge({ companion }: CompanionPageProps) {
  const api = `/api/companions/${companion.id}`;
  const base = `/app/companions/${companion.id}`;
  const here = `${base}/knowledge`;
  const show = useSearch().get("show") ?? "sources";
  const sources = useSources(companion.id);
  const uploads = useUploads(`${api}/sources`, sources.put);
  const unanswered = useList<UnansweredQuestion>(`${api}/unanswered`);
  const { scopes } = useSession();
  const mayChange = scopes.includes("knowledge:write");
  useLeaveGuard(uploads.isBusy);
  const open = unanswered.items.length;
  return (
    <>
      <div class="mb-5 flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <nav aria-label="Knowledge" class="segments">
          <View href={here} isHere={show === "sources"} label="Sources" />
          <View href={`${here}?show=try`} isHere={show === "try"} label="Try a question" />
          <View
            href={`${here}?show=unanswered`}
            isHere={show === "unanswered"}
            label={open === 0 ? "Gaps" : `Gaps ${open}${unanswered.hasMore ? "+" : ""}`}
          />
        </nav>
        <p class="text-14 text-pretty text-muted">
          {companion.answer_mode === "grounded"
            ? "Answers only from your sources. "
            : "Also uses the model's general knowledge. "}
          {scopes.includes("companions:write") && (
            <a href={`${base}/settings?section=knowledge`} class="text-accent underline">
              Change
            </a>
          )}
        </p>
      </div>
      {show === "try" ? (
        <TryQuestion companionId={companion.id} hasSources={sources.items?.length !== 0} sourcesHref={here} />
      ) : show === "unanswered" ? (
        <Unanswered
          path={() => `${api}/unanswered`}
          list={unanswered}
          sourcesHref={() => here}
          onAnswered={sources.put}
        />
      ) : (
        <div class="space-y-6">
          {mayChange && <AddSources path={`${api}/sources`} uploads={uploads} onAdded={sources.put} />}
          <SourceList path={`${api}/sources`} sources={sources} />
        </div>
      )}
    </>
  );
}

function View({ href, isHere, label }: { href: string; isHere: boolean; label: string }) {
  return (
    <a href={href} aria-current={isHere ? "page" : undefined}>
      {label}
    </a>
  );
}

interface TryQuestionProps {
  companionId: string;
  /** Whether there is anything to find. */
  hasSources: boolean;
  /** Of the page with the sources. */
  sourcesHref: string;
}

/** Shows what a question finds, without asking the model. */
function TryQuestion({ companionId, hasSources, sourcesHref }: TryQuestionProps) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<KnowledgeFound | null>(null);
  const search = useAction(async () => {
    setFound(
      await call<KnowledgeFound>("POST", `/api/companions/${companionId}/knowledge/search`, { body: { query } }),
    );
  });
  return (
    <Section
      title="Try a question"
      hint="See which passages a question finds. Doesn't call the model. Nothing is saved."
    >
      <Form class="flex flex-wrap items-end gap-2" onSubmit={() => query.trim() !== "" && void search.run()}>
        <TextField
          label="Question"
          class="flex-1 basis-56"
          value={query}
          onValue={setQuery}
          maxLength={2000}
          placeholder="How long do I have to return something?"
        />
        <Button type="submit" kind="primary" icon={Search} disabled={query.trim() === ""} isBusy={search.isBusy}>
          Search
        </Button>
      </Form>
      <Problem error={search.error} field="query" class="mt-4" />
      <p class="sr-only" role="status">
        {found && (found.data.length === 0 ? "Nothing found." : `${countOf(found.data.length, "passage")} found.`)}
      </p>
      {found && (
        <div class="mt-5 space-y-3">
          {found.whole && hasSources && (
            <Notice tone="accent">Your knowledge is small enough that every chat includes all of it.</Notice>
          )}
          {found.data.length === 0 ? (
            <Empty
              title="Nothing found"
              action={
                <a href={sourcesHref} class="text-accent underline">
                  {hasSources ? "Add a source" : "Add your first source"}
                </a>
              }
            >
              {hasSources
                ? "No passage matches this question. Try other words, or add what's missing."
                : "You haven't added any sources yet."}
            </Empty>
          ) : (
            <ol class="space-y-3" aria-label="Passages found">
              {found.data.map((passage, index) => (
                // Keyed by index, since what was found does not change.
                <li key={index}>
                  <PassageText
                    passage={passage}
                    aside={
                      <span
                        class="shrink-0 tabular-nums"
                        title="Higher is better. Only comparable within one question."
                      >
                        Score {passage.score.toFixed(2)}
                      </span>
                    }
                  />
                </li>
              ))}
            </ol>
          )}
        </div>
      )}
    </Section>
  );
}
