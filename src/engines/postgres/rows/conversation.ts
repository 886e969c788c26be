/** Conversations as rows. */
import type { Row } from "../../store-shared/tables/dialect.ts";
import { tables } from "../tables.ts";
import { mapColumns } from "./columns.ts";

export const conversationColumns = mapColumns(tables.conversations, ["accountId"]);

export type ConversationRow = Omit<Row<typeof tables.conversations>, "accountId">;
