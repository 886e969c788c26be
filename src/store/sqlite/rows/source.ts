/** Sources as rows. */
import type { SourceRow } from "../../rows/knowledge.ts";
import { knowledgeSources } from "../schema/knowledge.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const sourceColumns = mapColumns(knowledgeSources);

/** A whole row, which makes a `Source` too. */
export type StoredSource = StoredRow<typeof knowledgeSources> & SourceRow;
