/** What the list of companions shows of each: whether it is live, on which website, how much it replies. */
import { useMemo } from "preact/hooks";
import { toSearch } from "../lib/api.ts";
import { formatNumber } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { Companion, Json, UsageRow } from "../lib/types.ts";
import type { Column } from "../ui/list.tsx";
import { Time } from "../ui/page.tsx";
import { Avatar } from "./avatar.tsx";

const maxTags = 3;
const sixDaysMs = 6 * 86_400_000;

export function useCompanionColumns(): readonly Column<Companion>[] {
  const replies = useWeeksReplies();
  return useMemo(
    () => [
      { title: "Name", class: "has-picture", cell: (companion) => <NameCell companion={companion} /> },
      { title: "Website", cell: (companion) => <WebsiteCell companion={companion} /> },
      ...(replies === null
        ? []
        : [
            {
              title: "Replies, 7 days",
              isNumber: true,
              cell: ({ id }: Companion) => (
                <>
                  {formatNumber(replies[id] ?? 0)}
                  <span class="md:hidden"> {replies[id] === 1 ? "reply" : "replies"} this week</span>
                </>
              ),
            },
          ]),
      {
        title: "Changed",
        onPhone: "hide",
        class: "whitespace-nowrap text-muted",
        cell: (companion) => <Time at={companion.updated_at} />,
      },
    ],
    [replies],
  );
}

/** By companion, for all of them in one request; null until it is known. */
function useWeeksReplies(): Record<string, number> | null {
  const { scopes } = useSession();
  const query = { from: new Date(Date.now() - sixDaysMs).toISOString().slice(0, 10), group_by: "companion" };
  const { data } = useLoad<{ data: UsageRow[] }>(scopes.includes("usage:read") ? `/api/usage${toSearch(query)}` : null);
  return useMemo(
    () => data && Object.fromEntries(data.data.map(({ companion_id, messages }) => [companion_id, messages])),
    [data],
  );
}

/** Its link covers the row. */
function NameCell({ companion }: { companion: Companion }) {
  const { id, name, enabled, metadata } = companion;
  const tags = Object.entries(metadata).flatMap(([key, value]) => toTags(key, value));
  return (
    <span class="flex min-w-0 items-center gap-3">
      <Avatar companion={companion} />
      <span class="min-w-0">
        <a href={`/app/companions/${id}`} class="font-medium wrap-anywhere after:absolute after:inset-0">
          <bdi class="line-clamp-2">{name}</bdi>
        </a>
        <span class="flex flex-wrap items-center gap-x-2 gap-y-1 text-12 text-muted">
          <span class="inline-flex items-center gap-1.5">
            <span class={`size-2 rounded-full ${enabled ? "bg-good" : "bg-warn"}`} />
            {enabled ? "Live" : "Paused"}
          </span>
          {tags.slice(0, maxTags).map((tag) => (
            <span key={tag} dir="auto" class="max-w-56 truncate rounded-md bg-sunken px-1.5">
              {tag}
            </span>
          ))}
          {tags.length > maxTags && `+${tags.length - maxTags}`}
        </span>
      </span>
    </span>
  );
}

/** "plan: pro"; what is in objects by its path, as filters name it: "shop.id: 42". */
function toTags(name: string, value: Json): string[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, inner]) => toTags(`${name}.${key}`, inner));
  }
  return [`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`];
}

function WebsiteCell({ companion: { id, seen_on } }: { companion: Companion }) {
  const [newest] = seen_on;
  if (newest === undefined) {
    return (
      <a href={`/app/companions/${id}/install`} class="relative text-muted hover:text-accent hover:underline">
        Not on a site yet
      </a>
    );
  }
  return (
    <span class="inline-flex max-w-full items-baseline gap-2 md:max-w-64">
      <a href={newest.origin} target="_blank" rel="noreferrer" dir="ltr" class="relative truncate hover:underline">
        {newest.origin.replace(/^https?:\/\//, "")}
      </a>
      {seen_on.length > 1 && <span class="text-13 text-muted">+{seen_on.length - 1}</span>}
    </span>
  );
}
