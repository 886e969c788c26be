/** Conversations as rows. */
import type { InferSelectModel } from "drizzle-orm";
import { conversations } from "../schema/conversations.ts";
import { mapColumns } from "./columns.ts";

export const conversationColumns = mapColumns(conversations, ["accountId"]);

export type ConversationRow = Omit<InferSelectModel<typeof conversations>, "accountId">;
