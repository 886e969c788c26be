/** One conversation in the list of the inbox: with whom, who has it, what happens in it, and what is unread. */
import { useCompanionNames } from "../lib/companion-names.ts";
import { inboxPath } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Time } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";
import { typingMarks } from "./feed.ts";
import { describeState, describeTyping, nameVisitor } from "./words.ts";

/** The page as it is, with another conversation. */
export function pathOfRow(id: string | null): string {
  const query = new URLSearchParams(location.search);
  if (id === null) query.delete("c");
  else query.set("c", id);
  return query.size === 0 ? inboxPath : `${inboxPath}?${query}`;
}

export function InboxRow({ row, isOpen }: { row: Conversation; isOpen: boolean }) {
  const ownId = personIdOf(useSession());
  const names = useCompanionNames([row.companion_id]);
  const typing = describeTyping(use(typingMarks), row.id, ownId);
  const state = describeState(row, ownId);
  const unread = row.unread ?? 0;
  return (
    <li class="border-line not-last:border-b">
      <a
        href={pathOfRow(row.id)}
        aria-current={isOpen ? "true" : undefined}
        class={`block px-3.5 py-2.5 ${isOpen ? "bg-tint" : "hover:bg-sunken"}`}
      >
        <span class="flex items-baseline justify-between gap-2">
          <span dir="auto" class={`min-w-0 truncate ${unread > 0 ? "font-semibold" : "font-medium"}`}>
            {nameVisitor(row)}
          </span>
          <span class="shrink-0 text-12 text-muted">
            <Time at={row.updated_at} />
          </span>
        </span>
        <span class="mt-0.5 flex items-center justify-between gap-2 text-13">
          <span dir="auto" class="min-w-0 truncate text-muted">
            {typing || (names[row.companion_id] ?? "Companion")}
          </span>
          {unread > 0 && (
            <span class="shrink-0 rounded-full bg-accent px-1.5 text-12 font-semibold text-on-accent tabular-nums">
              {unread}
              <span class="sr-only"> unread</span>
            </span>
          )}
        </span>
        {(state || (row.tags ?? []).length > 0) && (
          <span class="mt-1 flex flex-wrap gap-1">
            {state && <Badge tone={state.tone}>{state.text}</Badge>}
            {row.tags?.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>
        )}
      </a>
    </li>
  );
}
