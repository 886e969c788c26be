/** On every page: follows the inbox, counts what waits in the title, and alerts a person who wants that. */
import { useEffect } from "preact/hooks";
import { inboxPath, navigate } from "../lib/router.ts";
import { useSession } from "../lib/session.ts";
import { State, use } from "../lib/state.ts";
import type { Conversation } from "../lib/types.ts";
import { personIdOf } from "../members/who.ts";
import { followInbox, inboxCount, inboxRows, waitsFor } from "./feed.ts";
import { nameVisitor } from "./words.ts";

/** Of this browser; both are off at first. */
export const alerts = { sound: keptSwitch("companiond-sound"), notices: keptSwitch("companiond-notices") };

function keptSwitch(key: string): State<boolean> {
  const isOn = new State(localStorage.getItem(key) === "on");
  isOn.onChange(() => localStorage.setItem(key, isOn.value ? "on" : "off"));
  return isOn;
}

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
  const isWanted = alerts.notices.value && Notification.permission === "granted";
  if (!isWanted || isSeen || document.hasFocus()) return;
  // No visitor's words: it may stay on a locked screen. One for each conversation.
  const notice = new Notification("companiond", { body: news, tag: after.id });
  notice.onclick = () => {
    window.focus();
    navigate(`${inboxPath}?c=${after.id}`);
    notice.close();
  };
}

function findNews(personId: string, before: Conversation | undefined, after: Conversation): string | null {
  if (after.state === "waiting" && before?.state !== "waiting") return `${nameVisitor(after)} asks for a person.`;
  const isMine = after.state === "person" && after.person?.id === personId;
  return isMine && (after.unread ?? 0) > (before?.unread ?? 0) ? `${nameVisitor(after)} wrote to you.` : null;
}

/** Two short tones. A file would be another request. */
export function playSound(): void {
  const context = new AudioContext();
  for (const [at, frequency] of [660, 880].entries()) {
    const tone = new OscillatorNode(context, { frequency });
    const gain = new GainNode(context, { gain: 0.08 });
    tone.connect(gain).connect(context.destination);
    tone.start(context.currentTime + at * 0.14);
    tone.stop(context.currentTime + at * 0.14 + 0.12);
    if (at === 1) tone.onended = () => void context.close();
  }
}
