/** `/app/conversations`: what visitors said, newest first; new ones appear by themselves. */
import { Search } from "lucide-preact";
import { useState } from "preact/hooks";
import { CompanionPicker } from "../companion/companion-picker.tsx";
import { VisitorButton } from "../conversations/visitor.tsx";
import { describeState } from "../inbox/words.ts";
import type { Query } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useEvery, useList, useSettled } from "../lib/load.ts";
import { replaceSearch, useSearch } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Button } from "../ui/button.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { type Column, List } from "../ui/list.tsx";
import { PageHead, Time } from "../ui/page.tsx";
import { Badge, Empty } from "../ui/states.tsx";

const pollMs = 5000;

const kinds: readonly { name: string; label: string; query: Query }[] = [
  { name: "open", label: "Open", query: { status: "open" } },
  { name: "answered", label: "Answered", query: { status: "answered" } },
  { name: "closed", label: "Closed", query: { status: "closed" } },
  { name: "unread", label: "Unread", query: { unread: "true" } },
  { name: "up", label: "Rated as good", query: { rating: "up" } },
  { name: "down", label: "Rated as bad", query: { rating: "down" } },
];
const kindOptions = [{ value: "", label: "All" }, ...kinds.map(({ name, label }) => ({ value: name, label }))];

export default function ConversationsPage() {
  const query = useSearch();
  const value = (name: string) => query.get(name) ?? "";
  const [text, setText] = useState(value("q"));
  const q = useSettled(text.trim());
  const filters = {
    companion_id: value("companion_id"),
    visitor_id: value("visitor_id"),
    visitor_sub: value("visitor_sub"),
    from: edgeOf(value("from"), false),
    to: edgeOf(value("to"), true),
    q,
    ...kinds.find(({ name }) => name === value("kind"))?.query,
  };
  const list = useList<Conversation>("/api/conversations", filters);
  const names = useCompanionNames(list.items.map(({ companion_id }) => companion_id));
  useEvery(pollMs, () => {
    if (!list.isLoading && !list.isLoadingMore) void list.reload();
  });
  const visitor = filters.visitor_sub || filters.visitor_id;
  const isFiltered = Object.values(filters).some(Boolean);

  const columns: readonly Column<Conversation>[] = [
    {
      title: "Conversation",
      class: "title",
      cell: (conversation) => (
        <span class="inline-flex min-w-0 flex-wrap items-center gap-1.5">
          <a href={`/app/conversations/${conversation.id}`} class="font-medium hover:text-accent hover:underline">
            <span dir="auto">{names[conversation.companion_id] ?? "Companion"}</span>
          </a>
          <People conversation={conversation} />
        </span>
      ),
    },
    {
      title: "Visitor",
      cell: (conversation) => (
        <VisitorButton
          conversation={conversation}
          onOnly={(only) => replaceSearch({ visitor_id: null, visitor_sub: null, ...only })}
        />
      ),
    },
    { title: "Messages", isNumber: true, cell: ({ message_count }) => message_count },
    { title: "Began", class: "whitespace-nowrap text-muted", cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: "Last message",
      class: "whitespace-nowrap text-muted",
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ];

  return (
    <>
      <PageHead title="Conversations">What visitors and companions said. New ones appear by themselves.</PageHead>
      <div class="mb-5 grid items-end gap-3 sm:grid-cols-2 lg:grid-cols-5">
        <div class="relative">
          <Search size={17} aria-hidden="true" class="absolute bottom-3 left-3 text-muted" />
          <input
            type="search"
            aria-label="Search in messages"
            placeholder="Search in messages"
            maxLength={200}
            class="control pl-9"
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              replaceSearch({ q: currentTarget.value.trim() });
            }}
          />
        </div>
        <CompanionPicker value={value("companion_id")} onValue={(companion_id) => replaceSearch({ companion_id })} />
        <SelectField
          label="Kind"
          value={value("kind")}
          onValue={(kind) => replaceSearch({ kind })}
          options={kindOptions}
        />
        <TextField label="From" type="date" value={value("from")} onValue={(from) => replaceSearch({ from })} />
        <TextField label="To" type="date" value={value("to")} onValue={(to) => replaceSearch({ to })} />
      </div>
      {visitor && (
        <p class="mb-4 flex flex-wrap items-center gap-3 text-muted">
          Only visitor <code class="font-mono text-13 wrap-anywhere">{visitor}</code>
          <Button onClick={() => replaceSearch({ visitor_id: null, visitor_sub: null })}>Show all</Button>
        </p>
      )}
      <List
        label="Conversations"
        columns={columns}
        list={list}
        empty={
          isFiltered ? (
            <Empty title="No conversation matches">Try other words, another companion or a longer time.</Empty>
          ) : (
            <Empty title="No conversations yet">
              Conversations appear here as soon as a visitor writes to one of your companions.
            </Empty>
          )
        }
      />
    </>
  );
}

/** Who answers it, if not the companion, and how the team has filed it. */
function People({ conversation }: { conversation: Conversation }) {
  const state = describeState(conversation, personIdOf(useSession()));
  return (
    <>
      {state && <Badge tone={state.tone}>{state.text}</Badge>}
      {conversation.tags?.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </>
  );
}

/** The first or the last millisecond of a day, as the person at the screen counts days. */
function edgeOf(day: string, isEnd: boolean): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return "";
  const edge = new Date(`${day}T00:00:00`);
  if (isEnd) edge.setDate(edge.getDate() + 1);
  return new Date(edge.getTime() - Number(isEnd)).toISOString();
}
