/** People's messages as a model reads them: headed by their names, and behind the last one that they have left. */
import { type HistoryMessage, textOf, textParts } from "../../domain/conversation.ts";

/** Oldest first. A turn begins only once people have left; a person without a name bears the companion's. */
export function headByAuthors(messages: readonly HistoryMessage[], companionName: string): readonly HistoryMessage[] {
  const last = messages.findLastIndex(({ author }) => author !== undefined);
  if (last === -1) return messages;
  const headed = messages.map((message) => {
    const { author, ...plain } = message;
    if (author === undefined) return message;
    return { ...plain, parts: textParts(`${author ?? companionName}: ${textOf(message)}`) };
  });
  const name = messages[last]?.author ?? companionName;
  // In the visitor's role, as passages: what the model takes for its own words it would repeat.
  const note = `(${name} has left this conversation, and you answer it again.)`;
  return headed.toSpliced(last + 1, 0, { role: "user", parts: textParts(note) });
}
