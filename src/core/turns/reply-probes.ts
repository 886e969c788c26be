/** What operators see of the replies that clients can come back to. */
import type { Probe } from "../../lib/probe.ts";
import type { NamedReplies } from "./named-replies.ts";

export function createReplyProbes(replies: NamedReplies): Probe[] {
  return [
    {
      name: "companiond_replies_held",
      help: "Replies that clients can come back to, running or not yet read to their end.",
      read: () => replies.count,
    },
    {
      name: "companiond_replies_held_bytes",
      help: "Memory used by these replies; bounded.",
      read: () => replies.heldBytes,
    },
    {
      name: "companiond_replies_resumed_total",
      help: "Times that a client came back to a running reply.",
      read: () => replies.resumedCount,
    },
    {
      name: "companiond_replies_abandoned_total",
      help: "Replies that were ended because no client came back to them.",
      read: () => replies.abandonedCount,
    },
  ];
}
