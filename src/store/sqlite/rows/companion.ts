/** Converts rows to companions. */
import { createCompanionReader } from "../../rows/companion.ts";
import { companions } from "../schema/companions.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const companionColumns = mapColumns(companions, ["number", "nameFolded"]);

export type CompanionRow = Omit<StoredRow<typeof companions>, "number" | "nameFolded">;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));
