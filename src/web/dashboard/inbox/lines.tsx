/** The messages of a conversation in the inbox, with who wrote them, and those on their way. */
import { Fragment } from "preact";
import { Bubble } from "../chat/bubble.tsx";
import { MessageFoot } from "../conversations/message-foot.tsx";
import { formatDay } from "../lib/format.ts";
import { useSession } from "../lib/session.ts";
import type { ConversationWithMessages, Message } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { findUnshown, type Outgoing } from "./outbox.ts";
import { nameAuthor, nameVisitor } from "./words.ts";

interface LinesProps {
  conversation: ConversationWithMessages;
  companionName: string;
  outgoing: readonly Outgoing[];
}

export function Lines({ conversation, companionName, outgoing }: LinesProps) {
  const ownId = personIdOf(useSession());
  const { companion_id, messages, message_count, handoff } = conversation;
  const firstSeq = message_count - messages.length + 1;
  const seenAt = messages.findLastIndex(({ author }, at) => author && firstSeq + at <= (handoff?.seen ?? 0));

  function nameOf({ role, author }: Message): string {
    if (author) return nameAuthor(author, ownId);
    return role === "user" ? nameVisitor(conversation) : companionName;
  }

  return (
    <div class="space-y-4" role="log" aria-label="Transcript">
      {messages.map((message, at) => (
        <Fragment key={message.id}>
          {dayOf(message) !== dayOf(messages[at - 1]) && <p class="text-center text-12 text-muted">{dayOf(message)}</p>}
          <Bubble
            speaker={message.role}
            text={message.text}
            name={nameOf(message)}
            isPlain={message.author !== undefined}
          >
            <span dir="auto" aria-hidden="true" class={message.author ? "font-medium text-accent" : ""}>
              {nameOf(message)}
            </span>
            <MessageFoot message={message} companionId={companion_id} />
            {at === seenAt && <span>Seen</span>}
          </Bubble>
        </Fragment>
      ))}
      {findUnshown(outgoing, conversation, ownId).map(({ clientId, text, seq }) => (
        <Bubble key={clientId} speaker="assistant" text={text} name="You" isPlain>
          <span aria-hidden="true" class="font-medium text-accent">
            You
          </span>
          <span>{seq === undefined ? "Sending…" : "Sent"}</span>
        </Bubble>
      ))}
    </div>
  );
}

function dayOf(message: Message | undefined): string {
  return message ? formatDay(message.created_at) : "";
}
