/** What the rows of companions need beside their columns. */
import type { Companion, JsonObject } from "../../domain/companion.ts";

/** `read` decodes all other columns of a row. The result turns the row object itself into the companion. */
export function createCompanionReader<Row extends { metadata: string }>(
  read: (row: Row) => Omit<Companion, "metadata">,
): (row: Row) => Companion {
  return (row) => {
    const json = row.metadata;
    let metadata: JsonObject | null = null;
    // Parsed on demand: embed requests never need it, and it may be 16 KiB.
    const get = () => {
      metadata ??= parseMetadata(json);
      return metadata;
    };
    return Object.defineProperty(read(row), "metadata", { get, enumerable: true }) as Companion;
  };
}

export function parseMetadata(json: string): JsonObject {
  return json === "{}" ? {} : (JSON.parse(json) as JsonObject);
}

/** As names are stored for searches. */
export function foldName(name: string): string {
  return name.toLowerCase();
}
