/** Converts rows to companions. */
import { createCompanionReader } from "../../store-shared/rows/companion.ts";
import type { Row } from "../../store-shared/tables/dialect.ts";
import { tables } from "../tables.ts";
import { mapColumns } from "./columns.ts";

export const companionColumns = mapColumns(tables.companions, ["number", "nameFolded", "hadTools"]);

type Json = "allowedOrigins" | "starters" | "metadata";

/** As PostgreSQL gives it: JSON is text. */
export type CompanionRow = Omit<Row<typeof tables.companions>, "number" | "nameFolded" | "hadTools" | Json> &
  Record<Json, string>;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));
