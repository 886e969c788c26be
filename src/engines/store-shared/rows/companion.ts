/** What the rows of companions need beside their columns. */
import {
  type Companion,
  type CompanionSettings,
  type JsonObject,
  newCompanionSettings,
} from "../../../domain/companion.ts";

export const settingFields = Object.keys(newCompanionSettings("")) as (keyof CompanionSettings)[];

/** The settings that are given, as they are stored: JSON is text, and the name is there once more, for searches. */
export function toStoredSettings(
  settings: Partial<CompanionSettings>,
): Record<string, string | number | boolean | null> {
  const stored: ReturnType<typeof toStoredSettings> = {};
  for (const field of settingFields) {
    const value = settings[field];
    if (value !== undefined)
      stored[field] = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  }
  return settings.name === undefined ? stored : { ...stored, nameFolded: foldName(settings.name) };
}

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
