/** A conversation as a file of this browser. */
import type { ConversationWithMessages } from "../lib/types.ts";

export function exportConversation(whole: ConversationWithMessages, companionName: string): void {
  const { messages_next_cursor: _, ...conversation } = whole;
  const text = JSON.stringify({ companion: companionName, ...conversation }, null, 2);
  saveFile(`conversation-${conversation.id}.json`, text, "application/json");
}

export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers read the URL a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
