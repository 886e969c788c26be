/** Converts rows to companions. */
import { createCompanionReader } from "../../store-shared/rows/companion.ts";
import { tables } from "../tables.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const companionColumns = mapColumns(tables.companions, ["number", "nameFolded", "hadTools"]);

export type CompanionRow = Omit<StoredRow<typeof tables.companions>, "number" | "nameFolded" | "hadTools">;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));
