/** The passages that the model saw for a reply, and which of them it cites. */
import type { Message } from "../lib/types.ts";
import { Badge } from "../ui/states.tsx";
import { WebLink } from "../ui/web-link.tsx";

type Seen = NonNullable<Message["sources"]>[number];

export function SeenPassages({ passages }: { passages: readonly Seen[] }) {
  if (passages.length === 0) return <span>No matching source</span>;
  const cited = passages.filter((passage) => passage.cited);
  const others = passages.filter((passage) => !passage.cited);
  return (
    <details class="[&[open]]:w-full">
      <summary class="list-none underline">
        {cited.length === 0 ? "No source cited" : `${cited.length} of ${passages.length} sources cited`}
      </summary>
      <ul class="mt-2 rounded-xl border border-line text-14" aria-label="Sources">
        {[...cited, ...others].map((passage) => (
          <li key={passage.n} class="border-line px-3.5 py-1.5 not-last:border-b">
            <SeenPassage passage={passage} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function SeenPassage({ passage }: { passage: Seen }) {
  const { n, cited, title, url, page, text } = passage;
  const mark = cited && <Badge tone="good">Cited</Badge>;
  if (title === null) {
    return (
      <>
        [{n}] No longer there: the source was deleted or refreshed. {mark}
      </>
    );
  }
  return (
    <details>
      <summary class="wrap-anywhere">
        [{n}]{" "}
        <span class="font-medium text-ink" dir="auto">
          {title}
        </span>
        {page !== null && `, page ${page}`} {mark}
      </summary>
      {url !== null && (
        <p class="py-1.5">
          <WebLink url={url}>{url}</WebLink>
        </p>
      )}
      <p dir="auto" class="mt-1 text-ink wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    </details>
  );
}
