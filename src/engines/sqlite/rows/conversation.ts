/** Conversations as rows. */
import { tables } from "../tables.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const conversationColumns = mapColumns(tables.conversations);

export type ConversationRow = StoredRow<typeof tables.conversations>;
