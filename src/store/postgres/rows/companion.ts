/** Converts rows to companions. */
import type { InferSelectModel } from "drizzle-orm";
import { createCompanionReader } from "../../rows/companion.ts";
import { companions } from "../schema/companions.ts";
import { mapColumns } from "./columns.ts";

export const companionColumns = mapColumns(companions, ["number", "nameFolded"]);

type Json = "allowedOrigins" | "starters" | "metadata";

/** As PostgreSQL gives it: JSON is text. */
export type CompanionRow = Omit<InferSelectModel<typeof companions>, "number" | "nameFolded" | Json> &
  Record<Json, string>;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));
