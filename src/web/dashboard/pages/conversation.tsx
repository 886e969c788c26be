/** `/app/conversations/:id`: a growing transcript; saved, deleted, or erased with all else of its visitor. */
import { Download, Mic, Trash2, UserRoundX } from "lucide-preact";
import { useState } from "preact/hooks";
import { Bubble } from "../chat/bubble.tsx";
import { useTranscript } from "../chat/transcript.ts";
import { Rated, Resolved } from "../conversations/feedback.tsx";
import { SeenPassages } from "../conversations/seen-passages.tsx";
import { EraseVisitor, VisitorFacts, visitorName } from "../conversations/visitor.tsx";
import { ApiError, call, toSearch, toSentence } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { formatInstant, formatNumber } from "../lib/format.ts";
import { useAction, useEvery } from "../lib/load.ts";
import { inboxPath, navigate, type Params } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import type { ConversationWithMessages, Message } from "../lib/types.ts";
import { CalledTools } from "../tools/call-view.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { saveFile } from "../ui/copy.tsx";
import { Confirm } from "../ui/dialog.tsx";
import { lazy } from "../ui/lazy.tsx";
import { PageHead } from "../ui/page.tsx";
import { Badge, Empty, Failure, Pending, Problem } from "../ui/states.tsx";
import { say } from "../ui/toast.tsx";

const PeopleFacts = lazy(async () => (await import("../inbox/people-facts.tsx")).PeopleFacts);

const pollMs = 5000;
const listPath = "/app/conversations";
const back = { href: listPath, label: "Conversations" };

export default function ConversationPage({ params }: { params: Params }) {
  const path = `/api/conversations/${encodeURIComponent(params.id ?? "")}`;
  const transcript = useTranscript(path);
  const { conversation, error } = transcript;
  const names = useCompanionNames([conversation?.companion_id]);
  const [asked, setAsked] = useState<"delete" | "erase" | null>(null);
  const { scopes } = useSession();
  const exporting = useAction(async (name: string) => exportConversation(await transcript.readWhole(), name));
  const goingBack = useAction(transcript.loadEarlier);
  useEvery(pollMs, () => {
    if (conversation) void transcript.reload();
  });

  const isGone = error instanceof ApiError && error.status === 404;
  if (isGone || !conversation) {
    return (
      <>
        <PageHead title="Conversation" back={back} />
        {isGone ? (
          <Empty title="This conversation is gone">It was deleted, or it never was yours.</Empty>
        ) : (
          <Pending of={transcript} lines={6} />
        )}
      </>
    );
  }
  const name = names[conversation.companion_id] ?? "Companion";
  const visitorsName = conversation.visitor ? visitorName(conversation.visitor) : "Visitor";
  const { visitor, visitor_id: visitorId, state } = conversation;
  const mayDelete = scopes.includes("conversations:write");

  return (
    <>
      <PageHead
        title={name}
        back={back}
        actions={
          <>
            <Button icon={Download} isBusy={exporting.isBusy} onClick={() => void exporting.run(name)}>
              Export
            </Button>
            {state !== undefined && scopes.includes("conversations:reply") && (
              <ButtonLink href={`${inboxPath}?c=${conversation.id}`}>Open in the inbox</ButtonLink>
            )}
            {mayDelete && (
              <Button icon={Trash2} kind="risk" onClick={() => setAsked("delete")}>
                Delete…
              </Button>
            )}
            {mayDelete && (visitorId !== null || visitor !== null) && (
              <Button icon={UserRoundX} kind="risk" onClick={() => setAsked("erase")}>
                Erase visitor…
              </Button>
            )}
          </>
        }
      >
        <Resolved resolved={conversation.resolved} /> Began {formatInstant(conversation.created_at)}
        {visitorId !== null && (
          <>
            , visitor{" "}
            <a href={`${listPath}?visitor_id=${visitorId}`} class="font-mono text-13 wrap-anywhere underline">
              {visitorId}
            </a>
          </>
        )}
        {visitor !== null && (
          <>
            , with{" "}
            <a href={`${listPath}${toSearch({ visitor_sub: visitor.sub })}`} class="wrap-anywhere underline" dir="auto">
              {visitorName(visitor)}
            </a>
          </>
        )}
      </PageHead>
      {visitor !== null && <VisitorFacts visitor={visitor} />}
      {state !== undefined && <PeopleFacts conversation={conversation} path={path} />}
      {exporting.error !== null && <Failure error={exporting.error} onRetry={() => void exporting.run(name)} />}
      {goingBack.error !== null && <Problem class="mb-4">{toSentence(goingBack.error)}</Problem>}
      {transcript.hasEarlier && (
        <p class="mb-4 text-center">
          <Button isBusy={goingBack.isBusy} onClick={() => void goingBack.run()}>
            Show earlier messages
          </Button>
        </p>
      )}
      <div class="card space-y-5 p-4 sm:p-6" role="log" aria-label="Transcript">
        {conversation.messages.map((message) => (
          <Bubble
            key={message.id}
            speaker={message.role}
            text={message.text}
            name={
              message.author ? (message.author.name ?? "A colleague") : message.role === "user" ? visitorsName : name
            }
            isPlain={message.author !== undefined}
          >
            {message.author && (
              <span dir="auto" class="font-medium text-accent">
                {message.author.name ?? "A colleague"}
              </span>
            )}
            <MessageFoot message={message} />
            <VersionLink companionId={conversation.companion_id} message={message} />
          </Bubble>
        ))}
      </div>
      {asked === "delete" && (
        <Confirm
          title="Delete this conversation?"
          action="Delete"
          onConfirm={async () => {
            await call("DELETE", path);
            leave("Deleted.");
          }}
          onClose={() => setAsked(null)}
        >
          <p>Its messages are removed. Usage stays as it was counted.</p>
        </Confirm>
      )}
      {asked === "erase" && (
        <EraseVisitor
          conversation={conversation}
          companionName={name}
          onErased={() => leave("Erased.")}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

function exportConversation(whole: ConversationWithMessages, companionName: string): void {
  const { messages_next_cursor: _, ...conversation } = whole;
  const text = JSON.stringify({ companion: companionName, ...conversation }, null, 2);
  saveFile(`conversation-${conversation.id}.json`, text, "application/json");
}

function leave(done: string): void {
  navigate(listPath, { replace: true });
  say(done);
}

/** Which version answered. */
function VersionLink({ companionId, message }: { companionId: string; message: Message }) {
  const { scopes } = useSession();
  const version = message.companion_version;
  if (version === null || !scopes.includes("companions:write")) return null;
  return (
    <a href={`/app/companions/${companionId}/history?version=${version}`} class="underline">
      version {version}
    </a>
  );
}

function MessageFoot({ message }: { message: Message }) {
  const about = message.tokens_estimated ? "≈ " : "";
  return (
    <>
      <time dateTime={message.created_at}>{formatInstant(message.created_at)}</time>
      {message.channel === "voice" && (
        <span class="inline-flex items-center gap-1">
          <Mic size={13} aria-hidden="true" />
          spoken
        </span>
      )}
      {message.output_tokens !== null && (
        <span>
          {about}
          {formatNumber(message.input_tokens ?? 0)} in, {about}
          {formatNumber(message.output_tokens)} out
        </span>
      )}
      {message.model !== null && (
        <span class="wrap-anywhere">
          {message.model}
          {message.provider !== null && message.provider !== "default" && ` at ${message.provider}`}
        </span>
      )}
      {!message.complete && <Badge tone="warn">broken off</Badge>}
      {message.complete && message.finish_reason === "length" && <span>cut off at its length limit</span>}
      {message.complete && message.finish_reason === "content_filter" && <span>cut by the provider's filter</span>}
      {message.rating && <Rated rating={message.rating} />}
      {message.tool_calls && <CalledTools calls={message.tool_calls} />}
      {message.sources && <SeenPassages passages={message.sources} />}
    </>
  );
}
