/** Converts rows to companions. */
import type { Companion, JsonObject } from "../../../domain/companion.ts";
import { companions } from "../schema/companions.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const companionColumns = mapColumns(companions, ["number", "nameFolded"]);

export type CompanionRow = Omit<StoredRow<typeof companions>, "number" | "nameFolded">;

const read = companionColumns.createReader(["metadata"]);

/** Turns the row object itself into the companion. */
export function toCompanion(row: CompanionRow): Companion {
  const json = row.metadata;
  let metadata: JsonObject | null = null;
  // Parsed on demand: embed requests never need it, and it may be 16 KiB.
  const get = () => {
    metadata ??= parseMetadata(json);
    return metadata;
  };
  const companion: Omit<Companion, "metadata"> = read(row);
  return Object.defineProperty(companion, "metadata", { get, enumerable: true }) as Companion;
}

export function parseMetadata(json: string): JsonObject {
  return json === "{}" ? {} : (JSON.parse(json) as JsonObject);
}

export function foldName(name: string): string {
  return name.toLowerCase();
}
