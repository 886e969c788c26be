/** On every page: follows the inbox, counts what waits in the title, and alerts a person who wants that. */
import { useEffect } from "preact/hooks";
import { inboxPath, navigate } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { use } from "../lib/state.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { alerts, notify, playSound } from "./alerts.ts";
import { followInbox, inboxCount, inboxRows, waitsFor } from "./feed.ts";
import { nameVisitor } from "./words.ts";

export function InboxWatch() {
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
