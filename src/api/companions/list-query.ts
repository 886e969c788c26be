/** What the list of companions can be asked for beyond pages: which ones, and which of their fields. */
import { Type as t } from "@sinclair/typebox";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { updatedPageQuery } from "../../http/paging.ts";
import { metadataFilters, type QueryPart, textQuery, valueQuery } from "../../http/query.ts";
import { Text } from "../../http/schemas/schema.ts";
import { CompanionObject, toShownCompanion, type Companion as WireCompanion } from "./responses.ts";

/** Names in the order in which they appear, or null for all. */
const fieldsQuery: QueryPart<ReadonlySet<string> | null> = {
  parameters: {
    fields: () =>
      t.String({
        description:
          "Names of the fields to return, separated by commas; `id` always is. Left out: all. For lists without prompts.",
        examples: ["name,metadata,updated_at"],
      }),
  },
  read(query) {
    const known = new Set(Object.keys(CompanionObject.properties));
    const parse = (text: string) => {
      const names = text.split(",").map((name) => name.trim());
      return names.every((name) => known.has(name)) ? new Set([...names, "id"]) : undefined;
    };
    return query.value("fields", parse, "Must be names of a companion's fields, separated by commas.");
  },
};

export const companionListQuery = {
  q: textQuery("q", () => Text({ description: "Part of the name, in any case, or an exact id.", examples: ["ada"] })),
  slug: textQuery("slug", () => Text({ description: "The one that files call so.", examples: ["support"] })),
  page: updatedPageQuery,
  isEnabled: valueQuery(
    "enabled",
    () =>
      t.Boolean({
        description:
          "Only enabled ones, or only disabled ones. A page may then have fewer items than `limit`, or none, although " +
          "`next_cursor` leads to more.",
      }),
    (text) => (text === "true" ? true : text === "false" ? false : undefined),
    "Must be true or false.",
  ),
  fields: fieldsQuery,
  metadata: metadataFilters,
};

/** Whether `q` finds it. */
export function matchesText({ name, id }: Companion, q: string): boolean {
  return name.toLowerCase().includes(q.toLowerCase()) || id === q.toLowerCase();
}

/** As the principal sees it, with only the fields asked for. */
export function toListedCompanion(
  fields: ReadonlySet<string> | null,
  principal: Principal,
): (companion: Companion) => Partial<WireCompanion> {
  const toWire = toShownCompanion(principal);
  if (fields === null) return toWire;
  return (companion) => Object.fromEntries(Object.entries(toWire(companion)).filter(([name]) => fields.has(name)));
}
