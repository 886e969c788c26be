/** Writes YAML that reads back as the same value: texts of several lines as blocks, nothing folded. */
import { Document, isScalar, isSeq, parseDocument, visit } from "yaml";
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

/**
 * Adds to a list of a YAML document, and leaves the rest of it as people wrote it, comments too. `name`: a list at the top of
 * the only document, which has been read before.
 */
export function appendYaml(text: string, name: string, items: readonly JsonValue[]): string {
  const document = parseDocument(text, { version: "1.2", schema: "core" });
  const list = document.get(name);
  if (!isSeq(list)) throw new Error(`${name} is no list`);
  // Within braces there is no room for texts of several lines.
  list.flow = false;
  for (const item of items) list.add(document.createNode(item, { aliasDuplicateObjects: false }));
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}
