/** What the frame shows of the inbox on every page. One file for all, since the frame is part of the first load. */
import { Inbox } from "lucide-preact";
import { useEffect } from "preact/hooks";
import { inboxPath, navigate } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { NavEntry } from "../nav-entry.tsx";
import { alerts, notify, playSound } from "./alerts.ts";
import { followInbox, inboxCount, inboxRows, waitsFor } from "./feed.ts";
import { PresenceSwitch } from "./presence-switch.tsx";
import { nameVisitor } from "./words.ts";

export function InboxPart({ is }: { is: "entry" | "watch" | "presence" | "count" }) {
  if (is === "entry") return <InboxEntry />;
  if (is === "count") return <InboxCount />;
  return is === "watch" ? <InboxWatch /> : <PresenceSwitch />;
}

/** In the navigation, with how many wait. */
function InboxEntry() {
  return (
    <NavEntry
      href={inboxPath}
      label="Inbox"
      Icon={Inbox}
      aside={
        <span class="ml-auto flex">
          <Waiting />
        </span>
      }
    />
  );
}

/** In the bar of phones, whose navigation is closed: leads to those who wait. */
function InboxCount() {
  if (use(inboxCount) === 0) return null;
  return (
    <a href={inboxPath} class="flex min-h-9 items-center gap-2 rounded-md px-2 text-muted pointer-coarse:min-h-11">
      <Inbox size={20} aria-hidden="true" />
      <span class="sr-only">Inbox</span>
      <Waiting />
    </a>
  );
}

function Waiting() {
  const waiting = use(inboxCount);
  return (
    waiting > 0 && (
      <span class="rounded-full bg-accent px-2 font-semibold text-on-accent tabular-nums">
        {waiting}
        <span class="sr-only"> waiting</span>
      </span>
    )
  );
}

/** Follows the inbox, counts what waits in the title, and alerts a person who wants that. */
function InboxWatch() {
  const personId = personIdOf(useSession());
  const rows = use(inboxRows);
  useEffect(
    () => followInbox(personId, (before, after, isSeen) => takeNews(personId, before, after, isSeen)),
    [personId],
  );
  useEffect(() => {
    inboxCount.value = [...rows.values()].filter((row) => waitsFor(row, personId)).length;
  }, [rows, personId]);
  useEffect(countInTitle, []);
  return null;
}

/** Pages set the title, and know nothing of the inbox. */
function countInTitle(): () => void {
  function show(): void {
    const plain = document.title.replace(/^\(\d+\) /, "");
    const title = inboxCount.value > 0 ? `(${inboxCount.value}) ${plain}` : plain;
    if (document.title !== title) document.title = title;
  }
  const observer = new MutationObserver(show);
  observer.observe(document.head, { childList: true, subtree: true, characterData: true });
  const forget = inboxCount.onChange(show);
  return () => {
    observer.disconnect();
    inboxCount.value = 0;
    forget();
  };
}

function takeNews(personId: string, before: Conversation | undefined, after: Conversation, isSeen: boolean): void {
  const news = findNews(personId, before, after);
  if (news === null) return;
  if (alerts.sound.value) playSound();
  // No visitor's words: it may stay on a locked screen. One for each conversation.
  if (!isSeen && !document.hasFocus()) notify(news, after.id, () => navigate(`${inboxPath}?c=${after.id}`));
}

function findNews(personId: string, before: Conversation | undefined, after: Conversation): string | null {
  if (after.state === "waiting" && before?.state !== "waiting") return `${nameVisitor(after)} asks for a person.`;
  const isMine = after.state === "person" && after.person?.id === personId;
  return isMine && (after.unread ?? 0) > (before?.unread ?? 0) ? `${nameVisitor(after)} wrote to you.` : null;
}
