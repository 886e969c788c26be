/** One conversation in a list: with whom, what they asked, what was said last, and its marks. */
import { BadgeCheck, CornerUpLeft, type LucideIcon, Mic } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { typingMarks } from "../inbox/feed.ts";
import { describeRow, describeTyping, nameVisitor } from "../inbox/words.ts";
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
  /** What all rows of the list have in common. */
  view?: string | undefined;
  /** Where all are of one companion, its name says nothing. */
  hasCompanion?: boolean;
}

export function ConversationRow({ row, href, isOpen = false, view, hasCompanion = true }: RowProps) {
  const ownId = personIdOf(useSession());
  const names = useCompanionNames([row.companion_id]);
  const typing = describeTyping(use(typingMarks), row.id, ownId);
  const { tags = [], first_message: first } = row;
  const name = nameVisitor(row);
  const line = typing || lastWords(row);
  const isReply = line !== "" && !typing && !row.matches?.length && row.last_message?.role === "assistant";
  const states = describeRow(row, ownId, view);
  // Where people are at work, only what they owe counts.
  const { unanswered, failed } = view === undefined ? row : {};
  return (
    <li class="border-line not-last:border-b">
      <a
        href={href}
        aria-current={isOpen ? "true" : undefined}
        class={`flex gap-3 px-3 py-3 -outline-offset-2 ${isOpen ? "bg-tint" : "hover:bg-sunken"}`}
      >
        <VisitorFace id={row.visitor?.sub ?? row.visitor_id ?? row.id} name={row.visitor ? name : ""} />
        <span class="min-w-0 flex-1">
          <span class="flex items-center gap-2 text-13 text-muted">
            {/* Each is cut at its own end, whichever direction it is written in. */}
            <span class="flex min-w-0 flex-1 items-center gap-1">
              <span dir="auto" class={`truncate text-ink ${first ? "font-medium" : "text-14 font-semibold"}`}>
                {name}
              </span>
              <Marks row={row} />
              {hasCompanion && (
                <>
                  {" · "}
                  <span dir="auto" class="truncate">
                    {names[row.companion_id] ?? "Companion"}
                  </span>
                </>
              )}
            </span>
            {/* How long they wait is below. */}
            {!row.waiting_since && (
              <span class="shrink-0 text-12">
                <Time at={row.updated_at} />
              </span>
            )}
            {!line && <Unread count={row.unread} />}
          </span>
          {first && (
            <span dir="auto" class="mt-0.5 block truncate text-left font-semibold">
              {first.text}
            </span>
          )}
          {line && (
            <span class="mt-0.5 flex items-center gap-2 text-13 text-muted">
              <span class="flex min-w-0 flex-1 items-center gap-1">
                {isReply && <Mark label="Reply:" icon={CornerUpLeft} />}
                <span dir="auto" class="truncate">
                  {line}
                </span>
              </span>
              {failed && <span class="text-12 text-bad">Failed</span>}
              {unanswered && <span class="text-12">Not in sources</span>}
              <Unread count={row.unread} />
            </span>
          )}
          {(states.length > 0 || tags.length > 0) && (
            <span class="mt-1.5 flex flex-wrap gap-1">
              {states.map(({ tone, text }) => (
                <Badge key={text} tone={tone}>
                  {text}
                </Badge>
              ))}
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

/** Where a search hit, else the newest message unless it is the first one. */
function lastWords({ matches = [], last_message: last, message_count }: ListedConversation): ComponentChildren {
  const hit = matches.find(({ role }) => role === "user") ?? matches[0];
  if (hit) {
    return (
      <>
        {toPlain(hit.before).slice(-24)}
        <mark class="bg-warn-tint text-warn">{hit.match}</mark>
        {toPlain(hit.after)}
      </>
    );
  }
  return last && message_count > 1 ? toPlain(last.text) : "";
}

function Unread({ count }: { count: number | null | undefined }) {
  if (!count) return null;
  return (
    <span class="shrink-0 rounded-full bg-accent px-1.5 text-12 font-semibold text-on-accent tabular-nums">
      {count}
      <span class="sr-only"> unread</span>
    </span>
  );
}

/** A reply's text without the marks of its Markdown, which mean nothing in one line. */
function toPlain(text: string): string {
  return text.replace(/```\w*|^\s*#+ |[*_`|]{1,3}/g, "").replace(/\[(.+?)\]\(.*?\)/g, "$1");
}

function Marks({ row: { visitor, channels } }: { row: ListedConversation }) {
  return (
    <>
      {visitor !== null && <Mark label="Verified" icon={BadgeCheck} class="text-good" />}
      {channels?.includes("voice") && <Mark label="Voice" icon={Mic} />}
    </>
  );
}

interface MarkProps {
  label: string;
  icon: LucideIcon;
  class?: string;
}

function Mark({ label, icon: Icon, class: more = "" }: MarkProps) {
  return (
    <span title={label} class={`shrink-0 ${more}`}>
      <Icon size={14} aria-hidden="true" />
      <span class="sr-only">{label} </span>
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
