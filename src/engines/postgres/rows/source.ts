/** Sources as rows. */
import type { Row } from "../../store-shared/tables/dialect.ts";
import { tables } from "../tables.ts";
import { mapColumns } from "./columns.ts";

export const sourceColumns = mapColumns(tables.knowledgeSources);

/** A whole row, which makes a `Source` too. */
export type StoredSource = Row<typeof tables.knowledgeSources>;
