/** In a transcript: what people have to do with it, for those who only read. */
import { Contact } from "../conversations/feedback.tsx";
import { useSession } from "../lib/session.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { Section } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";
import { History, NoteList } from "./history.tsx";
import { describeState, versionOf } from "./words.ts";

interface FactsProps {
  conversation: ConversationWithMessages;
  path: string;
}

export function PeopleFacts({ conversation, path }: FactsProps) {
  const ownId = personIdOf(useSession());
  const { handoff, contact, tags = [], notes = [] } = conversation;
  const state = describeState(conversation, ownId);
  if (!handoff || (state === null && !contact && handoff.since === null && notes.length === 0)) return null;
  return (
    <div class="mb-5">
      <Section title="People" actions={state && <Badge tone={state.tone}>{state.text}</Badge>}>
        <div class="space-y-4">
          {tags.length > 0 && (
            <ul aria-label="Tags" class="flex flex-wrap gap-1.5">
              {tags.map((tag) => (
                <li key={tag}>
                  <Badge>{tag}</Badge>
                </li>
              ))}
            </ul>
          )}
          {contact && <Contact contact={contact} />}
          <NoteList notes={notes} />
          <History path={path} version={versionOf(conversation)} />
        </div>
      </Section>
    </div>
  );
}
