/** Adds to a list of a YAML document, and leaves the rest of it as people wrote it, comments too. */
import { isSeq, parseDocument } from "yaml";
import type { JsonValue } from "../../domain/json.ts";

/** `name`: a list at the top of the only document, which has been read before. */
export function appendYaml(text: string, name: string, items: readonly JsonValue[]): string {
  const document = parseDocument(text, { version: "1.2", schema: "core" });
  const list = document.get(name);
  if (!isSeq(list)) throw new Error(`${name} is no list`);
  // Within braces there is no room for texts of several lines.
  list.flow = false;
  for (const item of items) list.add(document.createNode(item, { aliasDuplicateObjects: false }));
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}
