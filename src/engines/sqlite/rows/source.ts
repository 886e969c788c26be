/** Sources as rows. */
import type { SourceRow } from "../../store-shared/rows/knowledge.ts";
import { tables } from "../tables.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const sourceColumns = mapColumns(tables.knowledgeSources);

/** A whole row, which makes a `Source` too. */
export type StoredSource = StoredRow<typeof tables.knowledgeSources> & SourceRow;
