/** `/app/companions/:id/playground`: tries a companion, as its owner who sees what was sent, or as a visitor. */
import { ChatCard } from "../chat/chat-card.tsx";
import { CompareChat } from "../chat/compare-chat.tsx";
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
  const asked = useSearch().get("as");
  const chosen = kinds.find(({ as }) => as === asked) ?? kinds[0];
  const { Chat } = chosen;
  return (
    <>
      <Choice chosen={chosen} />
      <Chat companion={companion} />
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

const kinds = [
  {
    name: "As its owner",
    as: null,
    hint: "Nothing is kept; each message counts in the companion's day and in your usage.",
    Chat: OwnerChat,
  },
  {
    name: "As a visitor",
    as: "visitor",
    hint: "A real conversation: it is kept, it counts, and every limit holds.",
    Chat: VisitorChat,
  },
  {
    name: "Side by side",
    as: "compare",
    hint: "Two replies to each message: of the draft and of what is live, or of any two versions.",
    Chat: CompareChat,
  },
] as const;

function Choice({ chosen }: { chosen: (typeof kinds)[number] }) {
  return (
    <div class="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <fieldset class="inline-flex rounded-[0.6rem] bg-sunken p-0.5">
        <legend class="sr-only">Try it</legend>
        {kinds.map(({ name, as }) => (
          <label
            key={name}
            class="relative rounded-[0.5rem] px-3 py-1 text-14 font-medium text-muted has-checked:bg-card has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name="kind"
              class="sr-only"
              checked={chosen.as === as}
              onChange={() => replaceSearch({ as })}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <p class="min-w-0 flex-1 basis-56 text-14 text-muted">{chosen.hint}</p>
    </div>
  );
}
