/** Shows what a question finds, without asking the model. */
import { Search } from "lucide-preact";
import { useState } from "preact/hooks";
import { call, fieldProblem, toSentence } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";
import type { KnowledgeFound } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { Section } from "../ui/page.tsx";
import { Empty, Notice, Problem } from "../ui/states.tsx";
import { PassageText } from "./passages.tsx";
import { countOf } from "./source-words.ts";

interface TryQuestionProps {
  companionId: string;
  /** Whether there is anything to find. */
  hasSources: boolean;
  /** Of the page with the sources. */
  sourcesHref: string;
}

export function TryQuestion({ companionId, hasSources, sourcesHref }: TryQuestionProps) {
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
      hint="Shows the passages that are found. The model is not asked, and nothing is kept."
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
      {search.error !== null && (
        <Problem class="mt-4">{fieldProblem(search.error, "query") ?? toSentence(search.error)}</Problem>
      )}
      <p class="sr-only" role="status">
        {found && (found.data.length === 0 ? "Nothing was found." : `${countOf(found.data.length, "passage")} found.`)}
      </p>
      {found && (
        <div class="mt-5 space-y-3">
          {found.whole && hasSources && (
            <Notice tone="accent">
              What it knows is little: a chat gives the model all of it, not only what is found here.
            </Notice>
          )}
          {found.data.length === 0 ? (
            <Empty
              title="Nothing was found"
              action={
                <a href={sourcesHref} class="text-accent underline">
                  {hasSources ? "Add a source that answers it" : "Add the first one"}
                </a>
              }
            >
              {hasSources
                ? "No passage has a telling word of this question. Ask it in other words, or add what is missing."
                : "There are no sources yet."}
            </Empty>
          ) : (
            <ol class="space-y-3" aria-label="Passages found">
              {found.data.map((passage, index) => (
                // Keyed by index, since what was found does not change.
                <li key={index}>
                  <PassageText
                    passage={passage}
                    aside={
                      <span class="shrink-0 tabular-nums" title="Higher is better, among the passages of one question">
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
