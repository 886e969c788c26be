/** The sources of a companion: narrowed, a page at a time, and changed. */
import { useEffect, useRef, useState } from "preact/hooks";
import { countOf, formatNumber } from "../lib/format.ts";
import type { Source } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDelete } from "../ui/dialog.tsx";
import { SearchField, ShowMore } from "../ui/list.tsx";
import { Rows } from "../ui/row-list.tsx";
import { Select } from "../ui/select.tsx";
import { Empty, Pending, Problem } from "../ui/states.tsx";
import { PassagesDialog } from "./passages.tsx";
import { ReplaceSource } from "./replace-source.tsx";
import { type SourceAct, SourceRow } from "./source-row.tsx";
import { hasProblem, isUnderWay, stateChoices } from "./source-words.ts";
import type { Sources } from "./use-sources.ts";

const pageSize = 25;
/** From so many on they can be narrowed. */
const manySources = 8;

interface SourceListProps {
  path: string;
  sources: Sources;
}

export function SourceList({ path, sources }: SourceListProps) {
  const { items, error, news, reload, put } = sources;
  const heading = useRef<HTMLHeadingElement>(null);
  const [text, setText] = useState("");
  const [state, setState] = useState("");
  const [count, setCount] = useState(pageSize);
  const [asked, setAsked] = useState<{ act: SourceAct; source: Source } | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  // Narrowed again, the list begins at its top.
  useEffect(() => setCount(pageSize), [text, state]);

  if (items === null) return <Pending of={sources} />;
  const found = items.filter((source) => fits(source, text.trim().toLowerCase(), state));
  const close = () => setAsked(null);
  const changed = (source: Source) => {
    setFailure(null);
    put(source);
  };
  return (
    <section aria-label="Sources">
      <div class="mb-4 flex flex-wrap items-end justify-between gap-3">
        <div class="min-w-0">
          <h2 ref={heading} tabIndex={-1} class="text-16 font-semibold">
            Sources
          </h2>
          {items.length > 0 && <p class="text-14 text-muted tabular-nums">{summarize(items)}</p>}
        </div>
        {items.length > manySources && (
          <div class="flex min-w-0 flex-1 basis-64 flex-wrap justify-end gap-2">
            <SearchField
              class="flex-1 basis-56 sm:max-w-80"
              label="Search sources"
              placeholder="Title or URL"
              value={text}
              onValue={setText}
            />
            <div>
              <Select aria-label="Status" value={state} onValue={setState} options={stateChoices} />
            </div>
          </div>
        )}
      </div>
      <p class="sr-only" role="status">
        {news}
      </p>
      <Problem error={error} class="mb-4" />
      <Problem error={failure} class="mb-4" />
      {items.length === 0 ? (
        <Empty title="No sources yet">
          Paste the URL of your sitemap or a page, drop some files, or write down the answers visitors need most.
        </Empty>
      ) : found.length === 0 ? (
        <Empty
          title="No matching sources"
          action={
            <Button
              onClick={() => {
                setText("");
                setState("");
              }}
            >
              Show all
            </Button>
          }
        />
      ) : (
        <Rows label="Sources">
          {found.slice(0, count).map((source) => (
            <SourceRow
              key={source.id}
              source={source}
              path={path}
              onChanged={changed}
              onFailed={setFailure}
              onAct={(act) => setAsked({ act, source })}
            />
          ))}
        </Rows>
      )}
      {found.length > count && (
        <ShowMore onMore={() => setCount(count + pageSize)}>
          Show more ({formatNumber(found.length - count)} left)
        </ShowMore>
      )}
      {asked?.act === "passages" && <PassagesDialog path={path} source={asked.source} onClose={close} />}
      {asked?.act === "replace" && (
        <ReplaceSource path={path} source={asked.source} onSaved={changed} onClose={close} />
      )}
      {asked?.act === "delete" && (
        <ConfirmDelete
          title={`Delete ${asked.source.title}?`}
          path={`${path}/${asked.source.id}`}
          onDone={() => {
            setFailure(null);
            return reload();
          }}
          onClose={() => {
            close();
            requestAnimationFrame(() => {
              if (document.activeElement?.id === "main") heading.current?.focus();
            });
          }}
        >
          <p>Replies stop using it immediately. Earlier replies keep their text but lose their citation details.</p>
        </ConfirmDelete>
      )}
    </section>
  );
}

function fits(source: Source, text: string, state: string): boolean {
  if (text !== "" && !`${source.title}\n${source.url ?? ""}`.toLowerCase().includes(text)) return false;
  if (state === "busy") return isUnderWay(source);
  if (state === "ready") return source.status === "ready";
  return state !== "problem" || hasProblem(source);
}

function summarize(items: readonly Source[]): string {
  const passages = items.reduce((sum, { chunks }) => sum + chunks, 0);
  const busy = items.filter(isUnderWay).length;
  const failed = items.filter(({ status }) => status === "failed").length;
  return [
    `${formatNumber(items.length)} of 500 sources`,
    countOf(passages, "passage"),
    busy > 0 && `${formatNumber(busy)} being read`,
    failed > 0 && `${formatNumber(failed)} failed`,
  ]
    .filter(Boolean)
    .join(" · ");
}
