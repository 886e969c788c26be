/** The text of a page that was read, for tests that compare it. */
import type { ReadPage } from "../../src/domain/knowledge.ts";

export function textOf({ markdown }: ReadPage): string {
  return markdown.slice(0, markdown.length);
}
