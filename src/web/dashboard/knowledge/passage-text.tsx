/** One passage, with where it stands. */
import type { ComponentChildren } from "preact";
import { WebLink } from "../ui/web-link.tsx";

interface PassageTextProps {
  passage: { title: string; url: string | null; page: number | null; heading?: string | null; text: string };
  /** Not repeated, where the passage says the same. */
  sourceTitle?: string;
  sourceUrl?: string | null;
  /** Right of where it stands. */
  aside?: ComponentChildren;
}

export function PassageText({ passage, sourceTitle, sourceUrl, aside }: PassageTextProps) {
  const { title, url, page, heading, text } = passage;
  const place = [
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
    <div class="rounded-xl border border-line">
      {(place.length > 0 || aside) && (
        <div class="flex items-start justify-between gap-3 border-b border-line px-3.5 py-1.5 text-[0.88rem] text-muted">
          <p class="flex min-w-0 flex-wrap gap-x-3">{place}</p>
          {aside}
        </div>
      )}
      <p dir="auto" class="px-3.5 py-2.5 text-[0.94rem] wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    </div>
  );
}
