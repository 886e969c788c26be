/** Passages as they were cut: one with where it stands, and the dialog with all of a source. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { countOf } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import type { Source, SourcePassage, SourcePassages } from "../lib/types.ts";
import { Dialog } from "../ui/dialog.tsx";
import { WebLink } from "../ui/links.tsx";
import { ShowMore } from "../ui/list.tsx";
import { Pending } from "../ui/states.tsx";

interface PassagesDialogProps {
  /** Of the companion's sources. */
  path: string;
  source: Source;
  onClose(): void;
}

export function PassagesDialog({ path, source, onClose }: PassagesDialogProps) {
  const [passages, setPassages] = useState<readonly SourcePassage[] | null>(null);
  const [next, setNext] = useState<number | null>(0);
  const load = useAction(async () => {
    const page = await call<SourcePassages>("GET", `${path}/${source.id}/passages`, { query: { first: next } });
    setPassages((before) => [...(before ?? []), ...page.data]);
    setNext(page.next_first);
  });
  const begin = useRef(load.run);
  useEffect(() => void begin.current(), []);
  return (
    <Dialog title={source.title} onClose={onClose} isWide>
      {passages !== null && (
        <>
          <p class="mb-4 text-pretty text-muted">
            {passages.length === 0
              ? "Nothing here yet. Passages appear once the source is ready."
              : `${countOf(source.chunks, "passage")}. Replies are written from these.`}
          </p>
          <ol class="space-y-3" aria-label="Passages">
            {passages.map((passage) => (
              <li key={passage.ordinal}>
                <PassageText passage={passage} sourceTitle={source.title} sourceUrl={source.url} />
              </li>
            ))}
          </ol>
        </>
      )}
      {(passages === null || load.error !== null) && <Pending of={{ error: load.error, reload: load.run }} />}
      {passages !== null && load.error === null && next !== null && (
        <ShowMore isBusy={load.isBusy} onMore={load.run}>
          Load more
        </ShowMore>
      )}
    </Dialog>
  );
}

interface PassageTextProps {
  passage: { title: string; url: string | null; page: number | null; heading?: string | null; text: string };
  /** Not repeated, where the passage says the same. */
  sourceTitle?: string;
  sourceUrl?: string | null;
  /** Right of where it stands. */
  aside?: ComponentChildren;
}

/** One passage, with where it stands. */
export function PassageText({ passage, sourceTitle, sourceUrl, aside }: PassageTextProps) {
  const { title, url, page, heading, text } = passage;
  const citation = [
    title !== sourceTitle && (
      <span key="title" class="font-medium text-ink wrap-anywhere" dir="auto">
        {title}
      </span>
    ),
    page !== null && <span key="page">Page {page}</span>,
    heading && heading !== title && (
      <span key="heading" class="wrap-anywhere" dir="auto">
        {heading.replaceAll(" > ", " › ")}
      </span>
    ),
    url !== null && url !== sourceUrl && (
      <WebLink key="url" url={url}>
        {url}
      </WebLink>
    ),
  ].filter(Boolean);
  return (
    <div class="rounded-lg border border-line">
      {(citation.length > 0 || aside) && (
        <div class="flex items-start justify-between gap-3 border-b border-line px-3.5 py-1.5 text-13 text-muted">
          <p class="flex min-w-0 flex-wrap gap-x-3">{citation}</p>
          {aside}
        </div>
      )}
      <p dir="auto" class="px-3.5 py-2.5 text-14 wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    </div>
  );
}
