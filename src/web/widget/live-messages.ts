/** What the server sends of a conversation beyond what this browser has of it: each message once, in the conversation's order. */
import type { LiveMessage } from "../sdk/live.ts";
import type { Message } from "./conversation.ts";

/** `drawn`: the objects that are shown, which of a turn under way know more than the storage does. */
export function addLive(kept: Message[], drawn: Message[], { author, ...live }: LiveMessage): Message[] {
  const role = author.type === "visitor" ? "user" : "assistant";
  const isPerson = author.type === "person";
  const mine = kept.find(({ seq }) => seq === live.seq) ?? (isPerson ? undefined : findOwn(kept, role, live));
  if (mine) for (const one of [mine, ...drawn.filter(({ id }) => id === mine.id)]) noteLive(one, live);
  for (const one of [...kept, ...drawn]) makeWhole(one);
  const id = role === "assistant" && !isPerson && live.message_id ? live.message_id : `live-${live.seq}`;
  const made: Message = { id, role, text: live.text, at: Date.parse(live.created_at), state: "done", seq: live.seq };
  return inOrder(mine ? kept : [...kept, isPerson ? { ...made, by: author.name ?? "" } : made]);
}

function noteLive(message: Message, { seq, text }: Omit<LiveMessage, "author">): void {
  message.seq = seq;
  if (message.role === "assistant" && text !== message.text && text.startsWith(message.text)) message.whole = text;
}

/** The reply's own stream is gone on with first: only where that failed is its rest taken from here. */
function makeWhole(message: Message): void {
  if (message.state !== "incomplete" || !message.whole?.startsWith(message.text)) return;
  message.text = message.whole;
  message.state = "done";
  message.isOpen = undefined;
}

/** What was written or read in this browser bears the exchange's name, or at least the same words. */
function findOwn(kept: Message[], role: Message["role"], live: Omit<LiveMessage, "author">): Message | undefined {
  const name = live.message_id;
  const at = name ? kept.findIndex((message) => message.role === "assistant" && message.id === name) : -1;
  const asked = kept[at - 1]?.role === "user" ? kept[at - 1] : kept.find(({ replyId }) => name && replyId === name);
  const named = role === "user" ? asked : kept[at];
  const isSame = ({ seq, by, role: of, text, state }: Message) =>
    !seq && by === undefined && of === role && text === live.text && state !== "streaming" && state !== "waiting";
  return named ?? kept.find(isSame);
}

/** Those whose position is known in that order; the others stay where they are. */
function inOrder(messages: Message[]): Message[] {
  const sorted = messages.filter(({ seq }) => seq).sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
  return messages.map((message) => (message.seq ? (sorted.shift() ?? message) : message));
}
