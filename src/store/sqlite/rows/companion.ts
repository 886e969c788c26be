/** Companions as rows and as the domain knows them. */
import type { Companion, JsonObject } from "../../../domain/companion.ts";
import { companions } from "../schema/companions.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const companionColumns = mapColumns(companions, ["number", "nameFolded"]);

export type CompanionRow = Omit<StoredRow<typeof companions>, "number" | "nameFolded">;

const read = companionColumns.createReader(["metadata"]);

/** The row itself becomes the companion. */
export function toCompanion(row: CompanionRow): Companion {
  const json = row.metadata;
  let metadata: JsonObject | null = null;
  // Parsed when somebody asks: embed requests never do, and it may be 16 KiB.
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
