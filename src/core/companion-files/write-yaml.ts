/** Writes YAML that reads back as the same value: texts of several lines as blocks, nothing folded. */
import { Document, isScalar, visit } from "yaml";
import type { JsonValue } from "../../domain/json.ts";

export function writeYaml(value: JsonValue): string {
  const document = new Document(value, { version: "1.2", schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, { key }) {
      // Plain, it would be a merge key.
      if (isScalar(key) && key.value === "<<") key.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}
