/** `/app/companions/:id/playground`: tries a companion, as its owner who sees what was sent, or as a visitor. */
import { ChatCard } from "../chat/chat-card.tsx";
import { runTestChat } from "../chat/test-chat.ts";
import { type Ask, useChat } from "../chat/use-chat.ts";
import { CompanionFrame } from "../companion/companion-frame.tsx";
import { type Params, replaceSearch, useSearch } from "../lib/router.ts";
import type { Companion } from "../lib/types.ts";
import { lazy } from "../ui/lazy.tsx";

const VisitorChat = lazy(async () => (await import("../chat/visitor-chat.tsx")).VisitorChat);

export default function PlaygroundPage({ params }: { params: Params }) {
  return (
    <CompanionFrame id={params.id ?? ""}>
      {(companion) => <Playground key={companion.id} companion={companion} />}
    </CompanionFrame>
  );
}

function Playground({ companion }: { companion: Companion }) {
  const isVisitor = useSearch().get("as") === "visitor";
  return (
    <>
      <Choice isVisitor={isVisitor} />
      {isVisitor ? <VisitorChat companion={companion} /> : <OwnerChat companion={companion} />}
    </>
  );
}

function OwnerChat({ companion }: { companion: Companion }) {
  const chat = useChat(({ onChange, ...ask }: Ask) =>
    runTestChat({ ...ask, companionId: companion.id, onTrace: (trace) => onChange({ trace }) }),
  );
  return (
    <ChatCard
      companion={companion}
      chat={chat}
      head="Each reply tells what was sent, how long it took, and what it used."
    />
  );
}

const ways = [
  {
    name: "As its owner",
    as: null,
    hint: "Nothing is kept; each message counts in the companion's day and in your usage.",
  },
  {
    name: "As a visitor",
    as: "visitor",
    hint: "A real conversation: it is kept, it counts, and every limit holds.",
  },
] as const;

function Choice({ isVisitor }: { isVisitor: boolean }) {
  const chosen = ways[isVisitor ? 1 : 0];
  return (
    <div class="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <fieldset class="inline-flex rounded-[0.6rem] bg-sunken p-0.5">
        <legend class="sr-only">Try it</legend>
        {ways.map(({ name, as }) => (
          <label
            key={name}
            class="relative rounded-[0.5rem] px-3 py-1 text-[0.94rem] font-medium text-muted has-checked:bg-card has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name="way"
              class="sr-only"
              checked={chosen.as === as}
              onChange={() => replaceSearch({ as })}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <p class="min-w-0 flex-1 basis-56 text-[0.94rem] text-muted">{chosen.hint}</p>
    </div>
  );
}
