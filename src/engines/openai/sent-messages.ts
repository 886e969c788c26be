/** The messages of a request as both APIs of OpenAI's take them. */
import { type HistoryMessage, type MessageRole, textOf } from "../../domain/conversation.ts";

/** As they are; or, for a model that wants them in turn, those of one side in a row as one. */
export function toSentMessages(messages: readonly HistoryMessage[], joinsRoles: boolean) {
  const sent: { role: MessageRole; content: string }[] = [];
  for (const message of messages) {
    const last = sent.at(-1);
    const content = textOf(message);
    if (joinsRoles && last?.role === message.role) last.content += `\n\n${content}`;
    else sent.push({ role: message.role, content });
  }
  return sent;
}
