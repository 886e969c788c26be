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
    <details class="w-full">
      <summary class="text-accent underline">
        Sources: {passages.length} seen, {cited.length === 0 ? "none" : cited.length} cited
      </summary>
      <ul class="mt-2 rounded-xl border border-line text-[0.94rem]" aria-label="Sources">
        {[...cited, ...others].map((passage) => (
          <li
            key={passage.n}
            class="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-line px-3.5 py-1.5 not-last:border-b"
          >
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
      <span class="tabular-nums">[{n}]</span>
      {title === null ? (
        <span class="min-w-0 flex-1">No longer there: the source was deleted or read anew.</span>
      ) : (
        <span class="min-w-0 font-medium text-ink wrap-anywhere" dir="auto">
          {url === null ? title : <WebLink url={url}>{title}</WebLink>}
        </span>
      )}
      {page !== null && <span>page {page}</span>}
      {cited && <Badge tone="good">cited</Badge>}
      {text !== null && (
        <details>
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
