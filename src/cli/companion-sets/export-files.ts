/** A companion of a server as the files of a repository: what is as it is by default is left out. */
import { toWireValues } from "../../api/companions/apply/units.ts";
import { companionFields } from "../../api/companions/fields.ts";
import { textFields } from "../../core/companion-files/read-companions.ts";
import { newCompanionSettings } from "../../domain/companion.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { toolTimeoutMs } from "../../domain/tool.ts";
import { noParameters } from "../../http/schemas/tool-settings.ts";
import type { FoundCompanion } from "./target.ts";

/** A text with more lines has a file of its own. */
const maxLines = 5;

/** Names to texts, the companion's own file first. */
export async function toFiles({
  companion,
  tools,
  sources,
}: Omit<FoundCompanion, "set">): Promise<ReadonlyMap<string, string>> {
  const { writeYaml } = await import("../../core/companion-files/write-yaml.ts");
  const slug = String(companion["slug"]);
  const texts = new Map<string, string>();
  const unset = toWireValues(newCompanionSettings(""));
  const document: JsonObject = { slug };
  for (const [field] of companionFields().names) {
    const value = companion[field];
    if (value === undefined || Bun.deepEquals(value, unset[field] ?? null)) continue;
    if (textFields.some((name) => name === field) && isLong(value)) {
      const name = `${slug}.${field}.md`;
      document[`${field}_file`] = name;
      texts.set(name, String(value));
    } else document[field] = value;
  }
  if (tools.length > 0) document["tools"] = [...tools].sort(byName("name")).map(toToolEntry);
  const named = sources.filter((source) => typeof source["slug"] === "string").sort(byName("slug"));
  if (named.length > 0) document["sources"] = named.map(toSourceEntry);
  return new Map([[`${slug}.yaml`, writeYaml(document)], ...texts]);
}

const toolDefaults: JsonObject = {
  ...{ description: "", parameters: noParameters, timeout_ms: toolTimeoutMs.usual },
  ...{ confirm: false, requires_visitor: false },
};

function toToolEntry(tool: JsonObject): JsonObject {
  const names = ["name", "title", "description", "parameters", "url", "mcp_url", "tools", "timeout_ms"];
  const entries = [...names, "confirm", "requires_visitor"].map((name): [string, JsonValue] => [
    name,
    tool[name] ?? null,
  ]);
  const isSet = ([name, value]: [string, JsonValue]) => {
    if (value === null || (name === "title" && value === tool["name"])) return false;
    return !Bun.deepEquals(value, toolDefaults[name]);
  };
  return Object.fromEntries(entries.filter(isSet));
}

/** Pages as they are; of a content the server alone has it. */
function toSourceEntry({ slug, type, title, url, refresh_hours: hours, content_hash: hash }: JsonObject): JsonObject {
  if (type === "url" || type === "sitemap") {
    return { slug: slug ?? null, [type]: url ?? null, ...(hours == null ? {} : { refresh_hours: hours }) };
  }
  return { slug: slug ?? null, title: title ?? null, content_hash: hash ?? null };
}

function byName(name: string) {
  return (one: JsonObject, other: JsonObject) => (String(one[name]) < String(other[name]) ? -1 : 1);
}

function isLong(value: JsonValue): boolean {
  // A file would begin with a byte order mark, and be refused.
  if (typeof value !== "string" || value.startsWith("\u{feff}")) return false;
  return value.replace(/\n$/, "").split("\n").length > maxLines;
}
