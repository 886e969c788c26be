/** Conversations as rows. */
import { conversations } from "../schema/conversations.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const conversationColumns = mapColumns(conversations);

export type ConversationRow = StoredRow<typeof conversations>;
