/** Sources as rows. */
import type { InferSelectModel } from "drizzle-orm";
import { knowledgeSources } from "../schema/knowledge.ts";
import { mapColumns } from "./columns.ts";

export const sourceColumns = mapColumns(knowledgeSources);

/** A whole row, which makes a `Source` too. */
export type StoredSource = InferSelectModel<typeof knowledgeSources>;
