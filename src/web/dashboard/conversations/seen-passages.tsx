/** The passages that the model saw for a reply, and which of them it cites. */
import type { Message } from "../lib/types.ts";
import { Badge } from "../ui/states.tsx";
import { WebLink } from "../ui/web-link.tsx";

type Seen = NonNullable<Message["sources"]>[number];

export function SeenPassages({ passages }: { passages: readonly Seen[] }) {
  if (passages.length === 0) return <span>no source fitted</span>;
  const cited = passages.filter((passage) => passage.cited);
  const others = passages.filter((passage) => !passage.cited);
  return (
    <details class="basis-full">
      <summary class="text-accent underline">
        Sources: {passages.length} seen, {cited.length === 0 ? "none" : cited.length} cited
      </summary>
      <ul class="mt-2 space-y-2 text-[0.94rem]" aria-label="Sources">
        {[...cited, ...others].map((passage) => (
          <li key={passage.n} class="rounded-xl border border-line px-3.5 py-2">
            <SeenPassage passage={passage} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function SeenPassage({ passage }: { passage: Seen }) {
  const { n, cited, title, url, page, text } = passage;
  return (
    <>
      <p class="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span class="tabular-nums">[{n}]</span>
        {title === null ? (
          <span>No longer there: the source was deleted or read anew.</span>
        ) : (
          <span class="font-medium text-ink wrap-anywhere" dir="auto">
            {title}
          </span>
        )}
        {page !== null && <span>page {page}</span>}
        {cited && <Badge tone="good">cited</Badge>}
      </p>
      {url !== null && (
        <p>
          <WebLink url={url}>{url}</WebLink>
        </p>
      )}
      {text !== null && (
        <details class="mt-1">
          <summary>
            Passage<span class="sr-only"> {n}</span>
          </summary>
          <p dir="auto" class="mt-1 text-ink wrap-anywhere whitespace-pre-wrap">
            {text}
          </p>
        </details>
      )}
    </>
  );
}
