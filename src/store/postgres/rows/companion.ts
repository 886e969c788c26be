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

/**
 * The condition for companion `c` to belong to an account, where it is looked up by something else. No index serves it:
 * with plans made for empty tables, PostgreSQL could read all companions of an account to find one.
 */
export const ofAccount = (accountId: string) => `(c.account_id = ${accountId}) IS TRUE`;
