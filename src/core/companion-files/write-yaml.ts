/** Writes YAML that reads back as the same value: texts of several lines as blocks, nothing folded. */
import { stringify } from "yaml";
import type { JsonValue } from "../../domain/json.ts";

export function writeYaml(value: JsonValue): string {
  return stringify(value, {
    version: "1.2",
    schema: "core",
    lineWidth: 0,
    aliasDuplicateObjects: false,
    blockQuote: "literal",
  });
}
