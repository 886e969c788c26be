/** One conversation in a list: with whom, what they asked, what was said last, and what is to be known of it. */
import { BadgeCheck, CircleHelp, Mic, TriangleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { typingMarks } from "../inbox/feed.ts";
import { describeState, describeTyping, nameVisitor } from "../inbox/words.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { ListedConversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Time } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";

interface RowProps {
  row: ListedConversation;
  href: string;
  isOpen?: boolean;
  /** Where all are of one companion, its name says nothing. */
  hasCompanion?: boolean;
}

export function ConversationRow({ row, href, isOpen = false, hasCompanion = true }: RowProps) {
  const ownId = personIdOf(useSession());
  const names = useCompanionNames([row.companion_id]);
  const typing = describeTyping(use(typingMarks), row.id, ownId);
  const state = describeState(row, ownId);
  const { unread, tags = [], first_message: first, last_message: last, matches = [] } = row;
  const name = nameVisitor(row);
  const firstHit = matches.find(({ role }) => role === "user") ?? matches[0];
  return (
    <li class="border-line not-last:border-b">
      <a
        href={href}
        aria-current={isOpen ? "true" : undefined}
        class={`flex gap-3 px-3 py-3 -outline-offset-2 ${isOpen ? "bg-tint" : "hover:bg-sunken"}`}
      >
        <VisitorFace id={row.visitor?.sub ?? row.visitor_id ?? row.id} name={row.visitor ? name : ""} />
        <span class="min-w-0 flex-1">
          <span class="flex items-baseline gap-2 text-13 text-muted">
            <span class="min-w-0 flex-1 truncate">
              <span dir="auto" class={`text-ink ${first ? "font-medium" : "text-14 font-semibold"}`}>
                {name}
              </span>
              {hasCompanion && (
                <>
                  {" · "}
                  <span dir="auto">{names[row.companion_id] ?? "Companion"}</span>
                </>
              )}
            </span>
            <span class="shrink-0 text-12">
              <Time at={row.updated_at} />
            </span>
          </span>
          {first && (
            <span dir="auto" class="mt-0.5 block truncate font-semibold">
              {first.text}
            </span>
          )}
          <span class="mt-0.5 flex items-center gap-2 text-13 text-muted">
            <span dir="auto" class="min-w-0 flex-1 truncate">
              {typing ||
                (firstHit ? (
                  <>
                    {firstHit.before.slice(-24)}
                    <mark class="rounded-[2px] bg-warn-tint text-warn">{firstHit.match}</mark>
                    {firstHit.after}
                  </>
                ) : (
                  last && toPlain(last.text)
                ))}
            </span>
            <Marks row={row} />
            {(unread ?? 0) > 0 && (
              <span class="shrink-0 rounded-full bg-accent px-1.5 text-12 font-semibold text-on-accent tabular-nums">
                {unread}
                <span class="sr-only"> unread</span>
              </span>
            )}
          </span>
          {(state || tags.length > 0) && (
            <span class="mt-1 flex flex-wrap gap-1">
              {state && <Badge tone={state.tone}>{state.text}</Badge>}
              {tags.map((tag) => (
                <Badge key={tag}>{tag}</Badge>
              ))}
            </span>
          )}
        </span>
      </a>
    </li>
  );
}

/** A reply's text without the marks of its Markdown, which mean nothing in one line. */
function toPlain(text: string): string {
  return text.replace(/```\w*|^\s*#+ |[*_`|]{1,3}/g, "").replace(/\[(.+?)\]\(.*?\)/g, "$1");
}

function Marks({ row: { unanswered, failed, visitor, channels } }: { row: ListedConversation }) {
  return (
    <>
      {unanswered && (
        <Mark label="Unanswered" class="text-warn">
          <CircleHelp size={14} aria-hidden="true" />
        </Mark>
      )}
      {failed && (
        <Mark label="Failed" class="text-bad">
          <TriangleAlert size={14} aria-hidden="true" />
        </Mark>
      )}
      {visitor !== null && (
        <Mark label="Verified" class="text-good">
          <BadgeCheck size={14} aria-hidden="true" />
        </Mark>
      )}
      {channels?.includes("voice") && (
        <Mark label="Voice">
          <Mic size={14} aria-hidden="true" />
        </Mark>
      )}
    </>
  );
}

function Mark({ label, class: more = "", children }: { label: string; class?: string; children: ComponentChildren }) {
  return (
    <span title={label} class={`shrink-0 ${more}`}>
      {children}
      <span class="sr-only">{label}</span>
    </span>
  );
}

/** A visitor's own colour, by which theirs are seen to belong together. */
export function VisitorFace({ id, name }: { id: string; name: string }) {
  let hash = 0;
  for (const letter of id) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return (
    <span
      aria-hidden="true"
      class="grid size-7 shrink-0 place-items-center rounded-full text-12 font-semibold uppercase"
      style={{
        background: `light-dark(oklch(0.92 0.06 ${hash}), oklch(0.36 0.08 ${hash}))`,
        color: `light-dark(oklch(0.4 0.12 ${hash}), oklch(0.92 0.06 ${hash}))`,
      }}
    >
      {[...name][0] ?? id.slice(-2)}
    </span>
  );
}
