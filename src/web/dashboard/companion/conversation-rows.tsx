/** A companion's conversations inside its own pages: each a line that leads to the transcript. */
import { describeState, nameVisitor } from "../inbox/words.ts";
import { useSession } from "../lib/session.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Time } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";

export function ConversationRows({ items }: { items: readonly Conversation[] }) {
  const own = personIdOf(useSession());
  return (
    <ul class="card overflow-hidden" aria-label="Conversations">
      {items.map((conversation) => {
        const { id, visitor, message_count, updated_at } = conversation;
        const state = describeState(conversation, own);
        return (
          <li key={id} class="border-line not-last:border-b">
            <a
              href={`/app/conversations/${id}`}
              class="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 hover:bg-sunken"
            >
              <span dir="auto" class="min-w-0 truncate font-medium">
                {nameVisitor(conversation)}
              </span>
              {visitor !== null && <Badge tone="good">verified</Badge>}
              {state && <Badge tone={state.tone}>{state.text}</Badge>}
              <span class="ml-auto shrink-0 text-13 text-muted tabular-nums">
                {message_count} {message_count === 1 ? "message" : "messages"} · <Time at={updated_at} />
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
