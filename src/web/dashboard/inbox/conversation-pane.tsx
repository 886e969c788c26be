/** The open conversation of the inbox: its transcript, who has it, what the team keeps of it, and where its person writes. */
import { ChevronLeft, Download, PanelRight, UserRoundCheck, X } from "lucide-preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useTranscript } from "../chat/transcript.ts";
import { exportConversation, MoreActions } from "../conversations/actions.tsx";
import { ApiError } from "../lib/api.ts";
import { useCompanionNames } from "../lib/companion-names.ts";
import { useAction, useEvery } from "../lib/load.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { ConversationWithMessages } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { IconButton } from "../ui/button.tsx";
import { lazy } from "../ui/lazy.tsx";
import { ShowMore } from "../ui/list.tsx";
import { Badge, Empty, Pending, Problem } from "../ui/states.tsx";
import { Composer } from "./composer.tsx";
import { dropRow, inboxRows, typingMarks } from "./feed.ts";
import { Lines } from "./lines.tsx";
import { Outbox } from "./outbox.ts";
import { useReadMarks } from "./read-marks.ts";
import { StateBar, takeOver } from "./state-bar.tsx";
import { describeState, describeTyping, nameVisitor } from "./words.ts";

const Details = lazy(async () => (await import("./details.tsx")).Details);

/** For what no event reports: whether the visitor is here, and what they have seen. */
const pollMs = 5000;

interface PaneProps {
  id: string;
  back: { href: string; label: string };
  /** It was deleted here. */
  onGone(): void;
}

export function ConversationPane({ id, back, onGone }: PaneProps) {
  const path = `/api/conversations/${encodeURIComponent(id)}`;
  const transcript = useTranscript(path);
  const { conversation, error } = transcript;
  const row = use(inboxRows).get(id);
  const isGone = error instanceof ApiError && error.status === 404;
  useEffect(() => {
    if (row) void transcript.reload();
  }, [row]);
  useEvery(pollMs, () => {
    if (conversation) void transcript.reload();
  });
  useEffect(() => {
    if (isGone) dropRow(id);
  }, [isGone]);

  if (isGone || !conversation) {
    return (
      <section aria-label="Conversation" class="fills-phone min-h-0 p-4">
        <BackLink {...back} />
        {isGone ? (
          <Empty title="This conversation is gone">It was deleted, or you don't have access.</Empty>
        ) : (
          <Pending of={transcript} lines={6} />
        )}
      </section>
    );
  }
  return <OpenConversation {...{ conversation, path, transcript, back, onGone }} />;
}

function BackLink({ href, label }: PaneProps["back"]) {
  return (
    <a
      href={href}
      class="-ml-1 inline-flex shrink-0 items-center gap-1 text-muted hover:text-ink md:hidden"
      aria-label={label}
    >
      <ChevronLeft size={18} aria-hidden="true" />
    </a>
  );
}

interface OpenProps extends Omit<PaneProps, "id"> {
  conversation: ConversationWithMessages;
  path: string;
  transcript: ReturnType<typeof useTranscript>;
}

function OpenConversation({ conversation, path, transcript, back, onGone }: OpenProps) {
  const session = useSession();
  const ownId = personIdOf(session);
  const mayReply = session.scopes.includes("conversations:reply");
  const { id, companion_id, handoff } = conversation;
  const companionName = useCompanionNames([companion_id])[companion_id] ?? "Companion";
  const outbox = useMemo(() => new Outbox(ownId, id, path, () => void transcript.reload()), [id, ownId]);
  useEffect(() => outbox.begin(), [outbox]);
  const [hasDetails, setHasDetails] = useState(() => matchMedia("(min-width: 88rem)").matches);
  const exporting = useAction(async () => exportConversation(await transcript.readWhole(), companionName));
  const afterReply = useAction(async () => {
    await takeOver(path, { stop: false });
    await transcript.reload();
  });
  const earlier = useAction(transcript.loadEarlier);
  const typing = describeTyping(use(typingMarks), id, ownId);
  const { outgoing } = use(outbox.kept);
  useEffect(() => outbox.settle(conversation.message_count), [outgoing, conversation.message_count]);
  const log = useScrolledToEnd(`${conversation.message_count} ${outgoing.length}`);
  useReadMarks(conversation, path, mayReply);
  const heading = useRef<HTMLHeadingElement>(null);
  // On phones the list, with the row that was chosen, is gone.
  useEffect(() => {
    if (matchMedia("(max-width: 52rem)").matches) heading.current?.focus();
  }, []);
  const state = describeState(conversation, ownId);
  const takeLater = {
    label: "Take over after this reply",
    Icon: UserRoundCheck,
    onChoose: () => void afterReply.run(),
  };
  const more = mayReply && handoff?.state === "companion" ? [takeLater] : [];
  const error = transcript.error ?? exporting.error ?? afterReply.error ?? earlier.error;

  return (
    <section aria-label="Conversation" class="fills-phone relative flex min-h-0 gap-4">
      <div class="card flex min-w-0 flex-1 flex-col overflow-hidden">
        <header class="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2.5">
          <BackLink {...back} />
          <div class="min-w-0 flex-1">
            <h2 ref={heading} tabIndex={-1} dir="auto" class="truncate text-16 font-semibold outline-none">
              {nameVisitor(conversation)}
            </h2>
            <p dir="auto" class="truncate text-13 text-muted">
              {companionName}
            </p>
          </div>
          {state && (
            <span class="max-md:hidden">
              <Badge tone={state.tone}>{state.text}</Badge>
            </span>
          )}
          <IconButton label="Export" icon={Download} data-key="e" onClick={() => void exporting.run()} />
          <MoreActions {...{ conversation, path, companionName, onGone, more }} />
          <IconButton
            label="Details, notes and tags"
            icon={PanelRight}
            aria-expanded={hasDetails}
            onClick={() => setHasDetails(!hasDetails)}
          />
        </header>
        {handoff && mayReply && <StateBar {...{ conversation, path, companionName }} onChanged={transcript.reload} />}
        <div ref={log} class="min-h-0 flex-1 overflow-y-auto p-4">
          <Problem error={error} class="mb-4" />
          {transcript.hasEarlier && (
            <ShowMore class="mb-4" isBusy={earlier.isBusy} onMore={earlier.run}>
              Show earlier messages
            </ShowMore>
          )}
          <Lines conversation={conversation} companionName={companionName} outgoing={outgoing} />
          <p aria-live="polite" class="mt-2 text-13 text-muted">
            {typing}
          </p>
        </div>
        {handoff && mayReply && <Composer conversation={conversation} path={path} outbox={outbox} />}
      </div>
      {hasDetails && (
        <aside
          aria-label="Details"
          class="card relative shrink-0 overflow-y-auto w-full p-4 max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-10 sm:w-70"
        >
          <IconButton
            label="Close the details"
            icon={X}
            onClick={() => setHasDetails(false)}
            class="absolute top-3 right-3"
          />
          <Details conversation={conversation} path={path} onChanged={transcript.reload} />
        </aside>
      )}
    </section>
  );
}

/** Follows what is added, unless someone reads further up. `key` changes with it. */
function useScrolledToEnd(key: string) {
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = log.current;
    if (!element) return;
    const note = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 80;
    };
    element.addEventListener("scroll", note, { passive: true });
    // Tables and fonts take their height later.
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTo(0, element.scrollHeight);
    });
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", note);
    };
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current) log.current?.scrollTo(0, log.current.scrollHeight);
  }, [key]);
  return log;
}
