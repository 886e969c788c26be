/** What the team keeps of a conversation beside its words: whose it is, tags, notes, and what people did with it. */
import { X } from "lucide-preact";
import { useState } from "preact/hooks";
import { Contact, Resolved } from "../conversations/feedback.tsx";
import { VisitorRows } from "../conversations/visitor.tsx";
import { call, toSearch } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { formatInstant } from "../lib/format.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { ConversationWithMessages, Member, Page } from "../lib/types.ts";
import { isOwner, personIdOf } from "../members/who.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Form, TextField } from "../ui/field.tsx";
import { SelectField } from "../ui/select.tsx";
import { Problem } from "../ui/states.tsx";
import { changeRow, presence } from "./feed.ts";
import { History, NoteList, Notes } from "./history.tsx";
import { namePerson, nameVisitor, versionOf } from "./words.ts";

interface DetailsProps {
  conversation: ConversationWithMessages;
  path: string;
  onChanged(): Promise<void>;
}

const maxTags = 20;

export function Details({ conversation, path, onChanged }: DetailsProps) {
  const { id, visitor, contact, handoff, assignee = null, tags = [] } = conversation;
  const mayReply = useSession().scopes.includes("conversations:reply");
  const change = useAction(async (body: object) => {
    const changed = await call<Partial<ConversationWithMessages>>("PATCH", path, { body });
    changeRow(id, changed);
    await onChanged();
  });
  return (
    <div class="space-y-5 text-14">
      <Facts conversation={conversation} />
      {visitor && <VisitorRows visitor={visitor} />}
      {contact && <Contact contact={contact} />}
      {handoff && !mayReply && (
        <>
          <NoteList notes={conversation.notes ?? []} />
          <History path={path} version={versionOf(conversation)} />
        </>
      )}
      {handoff && mayReply && (
        <>
          <Assignee assignee={assignee} isBusy={change.isBusy} onChange={(assignee) => void change.run({ assignee })} />
          <Tags tags={tags} isBusy={change.isBusy} onChange={(tags) => void change.run({ tags })} />
          <Problem error={change.error} />
          <Notes conversation={conversation} path={path} onChanged={onChanged} />
          <History path={path} version={versionOf(conversation)} />
        </>
      )}
    </div>
  );
}

/** All of one visitor's conversations are a click away. */
function Facts({ conversation }: { conversation: ConversationWithMessages }) {
  const { companion_id, visitor, visitor_id, message_count, created_at, resolved } = conversation;
  const name = useCompanionNames([companion_id])[companion_id] ?? "Companion";
  const only = visitor ? { visitor_sub: visitor.sub } : { visitor_id };
  return (
    <div class="pr-8">
      <p class="font-semibold" dir="auto">
        {nameVisitor(conversation)}
      </p>
      <p class="text-13 text-muted">
        {visitor ? "Verified" : "Anonymous"} · <span dir="auto">{name}</span>
      </p>
      <p class="mt-2 text-13 text-muted">
        {message_count} {message_count === 1 ? "message" : "messages"}, started {formatInstant(created_at)}
      </p>
      {(visitor || visitor_id) && (
        <p class="mt-2">
          <a href={`/app/conversations${toSearch(only)}`} class="text-accent underline">
            All of this visitor's conversations
          </a>
        </p>
      )}
      <p class="mt-2 empty:hidden">
        <Resolved resolved={resolved} />
      </p>
    </div>
  );
}

interface AssigneeProps {
  assignee: string | null;
  isBusy: boolean;
  onChange(assignee: string | null): void;
}

/** Only owners may list the members; others choose among who is present. */
function Assignee({ assignee, isBusy, onChange }: AssigneeProps) {
  const session = useSession();
  const ownId = personIdOf(session);
  const members = useLoad<Page<Member>>(isOwner(session) ? "/api/members?limit=200" : null).data?.data;
  const present = use(presence)?.members ?? [];
  const known = members ?? present.filter((person) => !person.id.includes(":"));
  const named = new Map(known.map((person) => [person.id, namePerson({ ...person, name: nameOf(person) }, ownId)]));
  named.set(ownId, "You");
  if (assignee !== null && !named.has(assignee)) named.set(assignee, "A colleague");
  return (
    <SelectField
      label="Assigned to"
      value={assignee ?? ""}
      // One change at a time: another one would be dropped.
      disabled={isBusy}
      onValue={(id) => onChange(id || null)}
      options={[{ value: "", label: "No one" }, ...[...named].map(([value, label]) => ({ value, label }))]}
    />
  );
}

const nameOf = ({ name, ...rest }: { name: string | null; email?: string }) => name ?? rest.email ?? null;

interface TagsProps {
  tags: readonly string[];
  isBusy: boolean;
  onChange(tags: string[]): void;
}

function Tags({ tags, isBusy, onChange }: TagsProps) {
  const [text, setText] = useState("");
  function add(): void {
    const tag = text.trim().toLowerCase();
    setText("");
    if (tag !== "" && !tags.includes(tag)) onChange([...tags, tag]);
  }
  return (
    <div>
      {tags.length < maxTags && (
        <Form class="flex items-end gap-2" onSubmit={add}>
          <TextField label="Tags" class="flex-1" maxLength={40} value={text} onValue={setText} placeholder="returns" />
          <Button type="submit" disabled={isBusy || text.trim() === ""}>
            Add
          </Button>
        </Form>
      )}
      {tags.length > 0 && (
        <ul class="mt-2 flex flex-wrap gap-1.5" aria-label="Tags">
          {tags.map((tag) => (
            <li key={tag} class="inline-flex items-center rounded-full bg-sunken pl-3">
              <span dir="auto" class="wrap-anywhere">
                {tag}
              </span>
              <IconButton
                label={`Remove the tag ${tag}`}
                icon={X}
                size={14}
                disabled={isBusy}
                onClick={() => onChange(tags.filter((one) => one !== tag))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
