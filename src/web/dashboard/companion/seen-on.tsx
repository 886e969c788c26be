/** The websites on which a companion was seen, newest first; until then, the step that is missing. */
import { Globe } from "lucide-preact";
import { formatRelative } from "../lib/format.ts";
import type { Companion } from "../lib/types.ts";
import { ButtonLink } from "../ui/button.tsx";

export function SeenOn({ companion }: { companion: Companion }) {
  const { id, seen_on } = companion;
  if (seen_on.length === 0) {
    return (
      <div class="card flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-4">
        <div class="min-w-0 flex-1 basis-64">
          <p class="font-semibold">Not on a website yet</p>
          <p class="text-pretty text-muted">One line of code puts the chat on your site. You'll see the site here.</p>
        </div>
        <ButtonLink href={`/app/companions/${id}/install`} kind="primary">
          Put it on your site
        </ButtonLink>
      </div>
    );
  }
  return (
    <div class="flex flex-wrap items-center gap-2">
      <h2 class="mr-1 text-14 text-muted">Seen on</h2>
      <ul class="contents">
        {seen_on.map(({ origin, last_seen_at }) => (
          <li
            key={origin}
            class="inline-flex max-w-full items-center gap-2 rounded-full border border-line bg-card px-3 py-1"
          >
            <Globe size={14} class="shrink-0 text-good" aria-hidden="true" />
            <a href={origin} target="_blank" rel="noreferrer" dir="ltr" class="truncate font-medium hover:underline">
              {origin.replace(/^https?:\/\//, "")}
            </a>
            <span class="shrink-0 text-13 text-muted">{formatRelative(last_seen_at)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
