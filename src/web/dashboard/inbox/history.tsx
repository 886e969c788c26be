/** Notes of the team on a conversation, and what people did with it. */
import { Trash2 } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../lib/api.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import type { ConversationEvent, ConversationWithMessages, Page } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { Time } from "../ui/page.tsx";
import { Pending, Problem } from "../ui/states.tsx";
import { nameAuthor } from "./words.ts";

interface NotesProps {
  conversation: ConversationWithMessages;
  path: string;
  onChanged(): Promise<void>;
}

export function Notes({ conversation, path, onChanged }: NotesProps) {
  const [text, setText] = useState("");
  const add = useAction(async () => {
    await call("POST", `${path}/notes`, { body: { text: text.trim() } });
    setText("");
    await onChanged();
  });
  const remove = useAction(async (id: string) => {
    await call("DELETE", `${path}/notes/${id}`);
    await onChanged();
  });
  const error = add.error ?? remove.error;
  return (
    <div>
      <Form onSubmit={() => text.trim() !== "" && void add.run()}>
        <TextField
          label="Notes"
          rows={2}
          maxLength={4000}
          value={text}
          onValue={setText}
          hint="Only your team sees these, not the visitor or the model."
        />
        <Button type="submit" class="mt-2" isBusy={add.isBusy} disabled={text.trim() === ""}>
          Add a note
        </Button>
      </Form>
      <Problem error={error} class="mt-2" />
      <NoteList notes={conversation.notes ?? []} onRemove={(id) => void remove.run(id)} />
    </div>
  );
}

type Note = NonNullable<ConversationWithMessages["notes"]>[number];

export function NoteList({ notes, onRemove }: { notes: readonly Note[]; onRemove?: (id: string) => void }) {
  const ownId = personIdOf(useSession());
  if (notes.length === 0) return null;
  return (
    <ul aria-label="Notes" class="mt-3 space-y-2">
      {notes.map(({ id, text, author, created_at }) => (
        <li key={id} class="rounded-lg bg-warn-tint px-3 py-2">
          <p dir="auto" class="wrap-anywhere whitespace-pre-wrap">
            {text}
          </p>
          <p class="flex items-center justify-between gap-2 text-13 text-warn">
            <span>
              <span dir="auto">{nameAuthor(author, ownId)}</span>, <Time at={created_at} />
            </span>
            {onRemove && <IconButton label="Delete this note" icon={Trash2} size={15} onClick={() => onRemove(id)} />}
          </p>
        </li>
      ))}
    </ul>
  );
}

const eventWords: Record<ConversationEvent["type"], string> = {
  asked: "asked for a person",
  taken: "took it",
  stopped: "stopped a reply",
  released: "released it",
  closed: "closed it",
  assigned: "changed the assignee",
  tagged: "changed the tags",
  missed: "A request went unanswered",
};

const actors = {
  visitor: "The visitor",
  model: "The companion",
  clock: "The time limit",
  server: "The server",
} as const;

function describeEvent({ type, by }: ConversationEvent, ownId: string): string {
  if (type === "missed") return eventWords.missed;
  if (type === "released" && by.type !== "person") return "Back to the companion";
  return `${by.type === "person" ? nameAuthor(by, ownId) : actors[by.type]} ${eventWords[type]}`;
}

/** `version`: another one with each change that may be part of it. */
export function History({ path, version }: { path: string; version: string }) {
  const loaded = useLoad<Page<ConversationEvent>>(`${path}/events?limit=50`);
  const ownId = personIdOf(useSession());
  const read = useRef(version);
  useEffect(() => {
    if (read.current === version) return;
    read.current = version;
    void loaded.reload();
  }, [version]);
  if (loaded.data === null) return <Pending of={loaded} lines={2} />;
  if (loaded.data.data.length === 0) return null;
  return (
    <div>
      <h3 class="mb-1.5 font-medium">Activity</h3>
      <ol class="space-y-1.5">
        {loaded.data.data.map((event) => (
          <li key={event.at + event.type}>
            <span dir="auto">{describeEvent(event, ownId)}</span>{" "}
            <span class="text-13 text-muted">
              <Time at={event.at} />
            </span>
            {event.reason !== null && (
              <blockquote dir="auto" class="border-l-2 border-edge pl-2 text-muted wrap-anywhere">
                {event.reason}
              </blockquote>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}
